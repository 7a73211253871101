import type { ErrorBody, FieldError } from "./types";

/** A failed API call: rejected, or without a response. Its message is written for users. */
export class ApiFailure extends Error {
  /** 0 without a response. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly fieldErrors: FieldError[];
  /** From the Retry-After header. */
  readonly retryAfterSeconds: number | null;
  /** The whole body, with the fields of single error codes (`missing`, `requiredRole`, …). */
  readonly body: Partial<ErrorBody> & Record<string, unknown>;

  constructor(status: number, body: Partial<ErrorBody>, retryAfterSeconds: number | null = null) {
    super(body.message ?? fallbackMessage(status));
    this.name = "ApiFailure";
    this.status = status;
    this.code = body.code ?? (status === 0 ? "unreachable" : "unknown");
    this.requestId = body.requestId ?? null;
    this.fieldErrors = body.errors ?? [];
    this.retryAfterSeconds = retryAfterSeconds;
    this.body = body as Partial<ErrorBody> & Record<string, unknown>;
  }

  /** A write that was not sent because the browser is offline. */
  static offline(): ApiFailure {
    return new ApiFailure(0, { code: "offline", message: "You are offline. Nothing was sent." });
  }

  /** A write whose outcome is unknown: no response, or a 5xx. */
  static uncertain(status: number, body: Partial<ErrorBody> = {}): ApiFailure {
    const why = status === 0 ? "The service did not respond" : "The service reported an error";
    const message = `${why}. The change may or may not have taken effect. Check before you try again.`;
    return new ApiFailure(status, { ...body, code: UNCERTAIN, message });
  }

  /** A read that timed out. */
  static tooSlow(): ApiFailure {
    const message = "The request timed out. A service may be slow or down. Try again in a moment.";
    return new ApiFailure(0, { code: "too_slow", message });
  }
}

const UNCERTAIN = "outcome_unknown";

/** Whether a failed write may have taken effect. */
export function isUncertain(error: unknown): boolean {
  return isCode(error, UNCERTAIN);
}

/** Codes of a 401 for wrong credentials. Any other 401 means that the session has ended. */
const WRONG_CREDENTIALS = [
  "invalid_credentials",
  "operator_token_invalid",
  "operator_logged_out",
  "challenge_ended",
];

/** Whether the session has ended and the user must log in again. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401 && !WRONG_CREDENTIALS.includes(error.code);
}

/** The error code of a response, which stays readable. "" without one. */
export async function codeOf(response: Response): Promise<string> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof ApiFailure && error.code === code;
}

/** Converts any thrown value. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure(0, {});
}

function fallbackMessage(status: number): string {
  if (status === 0) return "The service did not respond. Check your connection, then try again.";
  if (status === 429) return "Too many requests. Wait a moment, then try again.";
  if (status >= 500) return "The service is unavailable right now. Try again in a moment.";
  if (status === 404) return "Not found. It may have been deleted.";
  return "The request was rejected. Reload the page and try again.";
}
