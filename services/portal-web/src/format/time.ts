// Times arrive as RFC 3339 in UTC and are shown in the operator's time zone: in India, from 18:30 UTC on, as the next day.
import { perRegion } from "./region";

const FULL = perRegion(
  ({ locale, timeZone }) =>
    new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone }),
);
const CLOCK = perRegion(
  ({ locale, timeZone }) => new Intl.DateTimeFormat(locale, { timeStyle: "medium", timeZone }),
);
const EXACT = perRegion(
  ({ locale, timeZone }) =>
    new Intl.DateTimeFormat(locale, {
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit",
      second: "2-digit",
      timeZone,
      timeZoneName: "short",
    }),
);
const DATE = perRegion(
  ({ locale, timeZone }) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone }),
);
const RELATIVE = perRegion(({ locale }) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));

const STEPS: [limitSeconds: number, unitSeconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [7 * 86_400, 86_400, "day"],
];

export function formatTime(iso: string): string {
  return FULL().format(new Date(iso));
}

/** The time of day with seconds, where the date is shown separately. */
export function formatClock(iso: string): string {
  return CLOCK().format(new Date(iso));
}

export function formatDate(iso: string): string {
  return DATE().format(new Date(iso));
}

/** With seconds and the time zone, for tooltips and sentences: `31 Jan 2026, 3:00:00 pm IST`. */
export function formatExact(iso: string): string {
  return EXACT().format(new Date(iso));
}

/** The name of the time zone, for fields: `IST`. */
export function zoneName(): string {
  return (
    EXACT()
      .formatToParts()
      .find(({ type }) => type === "timeZoneName")?.value ?? ""
  );
}

/** Like `formatRelative`, for future times: “due now” once the time has passed. */
export function formatUpcoming(iso: string, now: number): string {
  return Date.parse(iso) <= now ? "due now" : formatRelative(iso, now);
}

/** `5 minutes ago`, `in 3 days`; the date if it is more than a week away. */
export function formatRelative(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const distance = Math.abs(seconds);
  if (distance < 45) return seconds > 0 ? "in a moment" : "just now";
  for (const [limit, unitSeconds, unit] of STEPS) {
    if (distance < limit) return RELATIVE().format(Math.round(seconds / unitSeconds), unit);
  }
  return formatDate(iso);
}
