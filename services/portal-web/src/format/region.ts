// The operator's locale and time zone. All pages and mails use them for amounts and times; the browser's do not matter.

interface Region {
  locale: string;
  timeZone: string;
}

let region: Region = { locale: "en-IN", timeZone: "Asia/Kolkata" };

/** A missing setting keeps its value. */
export function setRegion({ locale, timeZone }: Partial<Region>) {
  region = { locale: locale ?? region.locale, timeZone: timeZone ?? region.timeZone };
}

export function timeZone(): string {
  return region.timeZone;
}

/** Caches a value until the region changes. */
export function perRegion<T>(make: (region: Region) => T): () => T {
  let made: { of: Region; it: T } | undefined;
  return () => {
    if (made?.of !== region) made = { of: region, it: make(region) };
    return made.it;
  };
}

const NUMBER = perRegion(({ locale }) => new Intl.NumberFormat(locale));
const CLOCK = perRegion(
  ({ timeZone }) =>
    new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }),
);
const SECOND_MS = 1_000;

export function formatNumber(number: number): string {
  return NUMBER().format(number);
}

/** A moment in local time: `2026-01-31T15:00`. */
export function toLocalTime(moment: Date): string {
  return new Date(moment.getTime() + offsetMs(moment.getTime())).toISOString().slice(0, 16);
}

/** The moment of a local time; `undefined` if invalid. */
export function fromLocalTime(toLocalTime: string): Date | undefined {
  const asUtc = Date.parse(`${toLocalTime}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // Twice, because the offset may differ between the guess and the moment.
  const guess = asUtc - offsetMs(asUtc);
  return new Date(asUtc - offsetMs(guess));
}

/** The offset from UTC at a moment. */
function offsetMs(moment: number): number {
  const parts = CLOCK().formatToParts(moment);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((one) => one.type === type)?.value ?? 0);
  const shown = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return shown - Math.floor(moment / SECOND_MS) * SECOND_MS;
}
