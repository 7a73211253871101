import type { TimelineEntry } from "../../api/orders";

const PENDING_POLL_MS = 2_000;
const IDLE_POLL_MS = 30_000;
/** Webhooks may appear this long after a status change. */
const FRESH_MS = 20_000;

/** The polling interval of a timeline: short while webhooks are pending. */
export function timelinePollMs(entries: TimelineEntry[], now = Date.now()): number {
  const hasPending = entries.some((entry) =>
    entry.type === "webhook" ? isSoon(entry.nextAttemptAt, entry.state, now) : isFresh(entry.recordedAt, now),
  );
  return hasPending ? PENDING_POLL_MS : IDLE_POLL_MS;
}

function isSoon(nextAttemptAt: string | null | undefined, state: string, now: number): boolean {
  return state === "pending" && (!nextAttemptAt || Date.parse(nextAttemptAt) - now < FRESH_MS);
}

function isFresh(at: string, now: number): boolean {
  return now - Date.parse(at) < FRESH_MS;
}
