import { useConfig } from "../api/config";
import { useSession } from "./session";

/** Whether the user must still confirm their e-mail address. Never without mails. */
export function useIsUnconfirmed(): boolean {
  const { mail } = useConfig();
  const { emailVerified } = useSession();
  return mail.enabled && !emailVerified;
}
