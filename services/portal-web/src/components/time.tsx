import { useSyncExternalStore } from "react";
import { toLocalTime } from "../format/region";
import { formatClock, formatExact, formatRelative, formatTime, formatUpcoming } from "../format/time";

const TICK_MS = 30_000;

interface TimeProps {
  /** RFC 3339; `null` if it has not happened. */
  at: string | null | undefined;
  /** What to show for `null`. */
  never?: string;
  /** `5 minutes ago` instead of the date. */
  relative?: boolean;
  /** Like `relative`, for future times: “due now” once the time has passed. */
  upcoming?: boolean;
  /** The time of day with seconds, for entries below a date. */
  clock?: boolean;
}

/** A time in the operator's time zone. The tooltip names the zone. */
export function Time({ at, never = "Never", relative = false, upcoming = false, clock = false }: TimeProps) {
  if (!at) return <span>{never}</span>;
  if (clock) return <Stamp at={at} text={formatClock(at)} />;
  if (upcoming) return <RelativeTime at={at} format={formatUpcoming} />;
  return relative ? (
    <RelativeTime at={at} format={formatRelative} />
  ) : (
    <Stamp at={at} text={formatTime(at)} />
  );
}

function RelativeTime({ at, format }: { at: string; format: typeof formatRelative }) {
  // The tick triggers the render; the text depends on the current time.
  const tick = useSyncExternalStore(subscribe, currentTick);
  const now = Math.max(tick, Date.now());
  return <Stamp at={at} text={format(at, now)} />;
}

function Stamp({ at, text }: { at: string; text: string }) {
  return (
    <time dateTime={at} title={formatExact(at)} style={{ whiteSpace: "nowrap" }}>
      {text}
    </time>
  );
}

/** The day in the operator's time zone: `2026-01-31`. A page that stays open follows midnight. */
export function useToday(): string {
  return useSyncExternalStore(subscribe, today);
}

function today(): string {
  return toLocalTime(new Date()).slice(0, 10);
}

// One timer for all relative times of a page, and for its day.
const listeners = new Set<() => void>();
let tick = Date.now();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  tick = Date.now();
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    tick = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(timer);
      timer = undefined;
    }
  };
}

function currentTick(): number {
  return tick;
}
