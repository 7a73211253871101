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
}

/** Whether the session has ended, so that logging in again is the way on. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401 && error.code === "not_logged_in";
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
