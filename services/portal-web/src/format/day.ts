// Days of date fields (`2026-01-31`) in the operator's time zone.
import { fromLocalTime, perRegion } from "./region";

const DAY = perRegion(
  ({ locale }) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }),
);
const MONTH = perRegion(
  ({ locale }) => new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" }),
);

/** `2026-01-31` as `31 Jan 2026`, in any time zone. */
export function formatDay(day: string): string {
  return DAY().format(new Date(day));
}

/** `2026-01` as `January 2026`. */
export function formatMonth(month: string): string {
  return MONTH().format(new Date(month));
}

/** The day in India, by which attempts and payments are promised: `2026-01-31`. */
export function dayInIndia(moment: Date): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Kolkata" }).format(moment);
}

/** The start of a day; `undefined` for an invalid day. */
export function startOfDay(day: string | undefined): string | undefined {
  return atMidnight(day, 0);
}

/** The start of the next day. */
export function endOfDay(day: string | undefined): string | undefined {
  return atMidnight(day, 1);
}

function atMidnight(day: string | undefined, daysLater: number): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "");
  if (!match) return undefined;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  const midnight = new Date(Date.UTC(year, month - 1, date + daysLater));
  return fromLocalTime(midnight.toISOString().slice(0, 16))?.toISOString();
}

/** The error of reversed days. The last day is included, so both may be the same. */
export function periodError({ from, to }: { from?: string; to?: string }): string | null {
  return from && to && from > to ? "From must be before To." : null;
}
