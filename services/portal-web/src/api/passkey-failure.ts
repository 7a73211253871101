import { ApiFailure } from "./failure";

/** The browser's errors in words for users, by the names that WebAuthn gives them. */
const MESSAGES: Record<string, string> = {
  NotAllowedError: "No passkey was used. The request was cancelled or took too long. Try again.",
  AbortError: "No passkey was used. The request was cancelled. Try again.",
  InvalidStateError: "This device already has a passkey for your account.",
  SecurityError: "Passkeys do not work at this address of the portal.",
  NotSupportedError: "This device does not support passkeys of this kind. Use another device or a code.",
  ConstraintError:
    "This device cannot check that it is you. Set up a screen lock or a PIN on it, then try again.",
};

const OTHER = "The browser could not use a passkey. Try again, or use a code.";

/** Throws an error of `navigator.credentials` as a failure whose message is written for users. */
export function browserFailure(error: unknown): never {
  const name = error instanceof Error ? error.name : "";
  throw new ApiFailure(0, { code: "passkey_failed", message: MESSAGES[name] ?? OTHER });
}
