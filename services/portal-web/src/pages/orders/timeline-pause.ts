import type { TimelineEntry } from "../../api/orders";

const UNDER_WAY_MS = 2_000;
const QUIET_MS = 30_000;
/** Webhooks may appear this long after a status change. */
const FRESH_MS = 20_000;

/** The polling interval of a timeline: short while webhooks are pending. */
export function timelinePause(entries: TimelineEntry[], now = Date.now()): number {
  const isUnderWay = entries.some((entry) =>
    entry.type === "webhook" ? isSoon(entry.nextAttemptAt, entry.state, now) : isFresh(entry.recordedAt, now),
  );
  return isUnderWay ? UNDER_WAY_MS : QUIET_MS;
}

function isSoon(nextAttemptAt: string | null | undefined, state: string, now: number): boolean {
  return state === "pending" && (!nextAttemptAt || Date.parse(nextAttemptAt) - now < FRESH_MS);
}

function isFresh(at: string, now: number): boolean {
  return now - Date.parse(at) < FRESH_MS;
}
