import type { ErrorBody, Fault } from "./types";

/** A call that was refused or never answered, in words that a person can act on. */
export class ApiFailure extends Error {
  /** 0 when no answer came. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly faults: Fault[];
  /** After how many seconds it may be tried again, if the server said so. */
  readonly retryAfterSeconds: number | null;
  /** The whole body, for what one kind of refusal says besides (`missing`, `requiredRole`, …). */
  readonly body: Partial<ErrorBody> & Record<string, unknown>;

  constructor(status: number, body: Partial<ErrorBody>, retryAfterSeconds: number | null = null) {
    super(body.message ?? fallbackMessage(status));
    this.name = "ApiFailure";
    this.status = status;
    this.code = body.code ?? (status === 0 ? "unreachable" : "unknown");
    this.requestId = body.requestId ?? null;
    this.faults = body.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
    this.body = body as Partial<ErrorBody> & Record<string, unknown>;
  }

  /** What would have changed something, and was not even tried. */
  static offline(): ApiFailure {
    return new ApiFailure(0, { code: "offline", message: "You are offline: nothing was sent." });
  }

  /** What changes something, and was sent: the answer was lost, or does not say whether it was done. */
  static uncertain(status: number, body: Partial<ErrorBody> = {}): ApiFailure {
    const why = status === 0 ? "No answer came" : "The service did not get through with it";
    const message = `${why}, so it is not known whether this was done. Look whether it shows before you try again.`;
    return new ApiFailure(status, { ...body, code: UNCERTAIN, message });
  }

  /** A read that was given up. */
  static tooSlow(): ApiFailure {
    const message = "No answer came in time. A service may be slow or stopped. Try again in a moment.";
    return new ApiFailure(0, { code: "too_slow", message });
  }
}

const UNCERTAIN = "outcome_unknown";

/** Whether something may have been changed although it failed. */
export function isUncertain(error: unknown): boolean {
  return isCode(error, UNCERTAIN);
}

/** A 401 that is about what was typed, and not about the session. */
const WRONG_CREDENTIALS = ["invalid_credentials", "operator_token_invalid", "operator_logged_out"];

/** Whether the session has ended, so that logging in again is the way on. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401 && !WRONG_CREDENTIALS.includes(error.code);
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof ApiFailure && error.code === code;
}

/** Anything that was thrown, as a failure. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure(0, {});
}

function fallbackMessage(status: number): string {
  if (status === 0) return "No answer came. Check your connection, then try again.";
  if (status === 429) return "Too many requests. Wait a moment, then try again.";
  if (status >= 500) return "The service cannot answer right now. Try again in a moment.";
  if (status === 404) return "There is nothing here, or not any more.";
  return "That was refused. Reload the page and try again.";
}
