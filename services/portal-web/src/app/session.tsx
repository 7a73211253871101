import { createContext, type ReactNode, useContext } from "react";
import type { Role, Session } from "../api/types";

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Who is logged in. Only for what is below the shell, where somebody always is. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession needs the shell around it");
  return session;
}

const RANKS: Record<Role, number> = { viewer: 0, developer: 1, owner: 2 };

/** Whether this user may do what needs at least `role`. The server judges; this only spares a refusal. */
export function useMay(role: Role): boolean {
  return RANKS[useSession().role] >= RANKS[role];
}

export const ROLE_LABELS: Record<Role, string> = { owner: "Owner", developer: "Developer", viewer: "Viewer" };

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: "Everything: money, subscription and team as well.",
  developer: "API keys, webhooks, test orders, cancelling, pickup profile, audit log.",
  viewer: "Sees orders, keys, webhooks and wallet; changes nothing.",
};
