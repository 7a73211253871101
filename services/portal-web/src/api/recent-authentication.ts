// Sensitive calls need a recent authentication: asks the user to confirm their identity, so that the call can be repeated.
import { codeOf } from "./failure";

/** Whose session a call uses. */
export type AccountScope = "portal" | "operator";

type Ask = (scope: AccountScope) => Promise<boolean>;

const REQUIRED = "recent_authentication_required";

let ask: Ask | null = null;
let pending: Promise<boolean> | null = null;

/** The dialog registers itself here. */
export function onConfirmationNeeded(handler: Ask | null) {
  ask = handler;
}

/** Whether the response asks for a recent authentication. */
export async function isConfirmationNeeded(response: Response): Promise<boolean> {
  return response.status === 403 && (await codeOf(response)) === REQUIRED;
}

/** Asks the user, once for all calls that wait. False if the user cancels. */
export function confirmIdentity(url: string): Promise<boolean> {
  const scope = new URL(url).pathname.startsWith("/v1/operator/") ? "operator" : "portal";
  pending ??= (ask?.(scope) ?? Promise.resolve(false)).finally(() => {
    pending = null;
  });
  return pending;
}
