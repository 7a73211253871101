// The operator's locale and time zone. All pages and mails use them for amounts and times; the browser's do not matter.

interface Place {
  locale: string;
  timeZone: string;
}

let place: Place = { locale: "en-IN", timeZone: "Asia/Kolkata" };

/** A missing setting keeps its value. */
export function setPlace({ locale, timeZone }: Partial<Place>) {
  place = { locale: locale ?? place.locale, timeZone: timeZone ?? place.timeZone };
}

export function timeZone(): string {
  return place.timeZone;
}

/** Caches a value until the region changes. */
export function placed<T>(make: (place: Place) => T): () => T {
  let made: { of: Place; it: T } | undefined;
  return () => {
    if (made?.of !== place) made = { of: place, it: make(place) };
    return made.it;
  };
}

const NUMBER = placed(({ locale }) => new Intl.NumberFormat(locale));
const CLOCK = placed(
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
export function wallClock(moment: Date): string {
  return new Date(moment.getTime() + aheadMs(moment.getTime())).toISOString().slice(0, 16);
}

/** The moment of a local time; `undefined` if invalid. */
export function momentAt(wallClock: string): Date | undefined {
  const asUtc = Date.parse(`${wallClock}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  // Twice, because the offset may differ between the guess and the moment.
  const guess = asUtc - aheadMs(asUtc);
  return new Date(asUtc - aheadMs(guess));
}

/** The offset from UTC at a moment. */
function aheadMs(moment: number): number {
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
