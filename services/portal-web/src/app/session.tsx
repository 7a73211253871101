import { createContext, type ReactNode, useContext } from "react";
import type { Permission, Role, Session } from "../api/types";

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

/** Whether the user has this permission. The server enforces it; pages only hide what it would reject. */
export function useMay(permission: Permission): boolean {
  return may(useSession(), permission);
}

export function may(session: Session, permission: Permission): boolean {
  return session.permissions.includes(permission);
}

export const ROLE_LABELS: Record<Role, string> = {
  owner: "Owner",
  developer: "Developer",
  finance: "Finance",
  support: "Support",
  viewer: "Viewer",
};

/** One sentence each. */
export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: "Full access, including money, subscription and team.",
  developer:
    "Manages API keys, webhooks and the pickup profile, cancels orders, decides about failed deliveries and reads the audit log, with customers’ phones and addresses masked.",
  finance:
    "Tops up the wallet, chooses the plan and exports statements, with customers’ phones and addresses masked.",
  support:
    "Sees orders with customers’ phones and addresses and corrects them, cancels orders, requests another attempt or the return after a failed delivery, and resends webhooks.",
  viewer:
    "Views orders, keys, webhooks and the wallet, with customers’ phones and addresses masked, and changes nothing.",
};
