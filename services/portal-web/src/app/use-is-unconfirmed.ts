import { useConfig } from "../api/config";
import { useSession } from "./session";

/** Whether the user must still confirm their e-mail address. Never without mails; the previous release does not tell. */
export function useIsUnconfirmed(): boolean {
  const { mail } = useConfig();
  const told: boolean | undefined = useSession().emailVerified;
  return mail.enabled && told === false;
}
