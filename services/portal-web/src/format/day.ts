// Days as date fields give them (`2026-01-31`), in the user's own zone.

/** The first moment of a day; `undefined` for what is no day. */
export function startOfDay(day: string | undefined): string | undefined {
  return atMidnight(day, 0);
}

/** The first moment after it. */
export function endOfDay(day: string | undefined): string | undefined {
  return atMidnight(day, 1);
}

function atMidnight(day: string | undefined, daysLater: number): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "");
  if (!match) return undefined;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  const moment = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
