/** Decides whether and when a call is repeated. Pure: the clock and the jitter come from outside. */
import { ApiError, NoAnswerError } from "./errors.js";

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 8_000;
export const ATTEMPTS_MAX = 10;

/** 409s that end by themselves; all others are final. */
const PASSING_CONFLICTS = new Set(["order_in_progress", "idempotency_in_progress"]);

/** Whether the same request can succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error;
  return status === 408 || status === 429 || status >= 500 || (status === 409 && PASSING_CONFLICTS.has(code));
}

/** Whether the failed attempt certainly had no effect, so that even a call without a key can be repeated. */
export function hadNoEffect(error: unknown): boolean {
  return error instanceof ApiError && error.status === 429;
}

/** The pause after the given number of attempts: growing, ±50 %, and never shorter than `Retry-After`. */
export function pauseMs(attempts: number, error: unknown, jitter: number): number {
  const growing = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (attempts - 1)) * (0.5 + jitter);
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(growing, asked);
}

/** `Retry-After` as seconds or as a date. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
