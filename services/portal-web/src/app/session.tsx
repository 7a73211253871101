import { createContext, type ReactNode, useContext } from "react";
import type { Role, Session } from "../api/types";

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** The current session. Available inside the shell only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession must be used inside the shell");
  return session;
}

const RANKS: Record<Role, number> = { viewer: 0, developer: 1, owner: 2 };

/** Whether the user has at least this role. The server enforces it; pages only hide what it would reject. */
export function useHasRole(role: Role): boolean {
  return RANKS[useSession().role] >= RANKS[role];
}

export const ROLE_LABELS: Record<Role, string> = { owner: "Owner", developer: "Developer", viewer: "Viewer" };

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: "Full access, including money, subscription and team.",
  developer: "Manages API keys, webhooks, orders and the pickup profile. Reads the audit log.",
  viewer: "Views orders, keys, webhooks and the wallet. Changes nothing.",
};
