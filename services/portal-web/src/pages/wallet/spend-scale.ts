import type { SpendDay } from "../../api/wallet";
import { perRegion } from "../../format/region";

const STEPS = [1, 2, 5, 10];
const DAY = perRegion(
  ({ locale }) => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }),
);
const COMPACT = perRegion(
  ({ locale }) =>
    new Intl.NumberFormat(locale, {
      style: "currency",
      currency: "INR",
      notation: "compact",
      maximumFractionDigits: 1,
    }),
);

/** Delivery fees, and fees of further attempts, which an earlier release of portal-api leaves out while this page is open. */
export function feesOf({
  feesPaise,
  attemptFeesPaise,
}: Pick<SpendDay, "feesPaise" | "attemptFeesPaise">): number {
  return feesPaise + (attemptFeesPaise ?? 0);
}

/** The top of the scale: the smallest round amount that fits the largest bar, at least ₹10. */
export function scaleTop(days: SpendDay[]): number {
  const largest = Math.max(1_000, ...days.map(feesOf));
  const magnitude = 10 ** Math.floor(Math.log10(largest));
  const step = STEPS.find((candidate) => candidate * magnitude >= largest) ?? 10;
  return step * magnitude;
}

export function totalsOf(days: SpendDay[]) {
  const sum = (pick: (day: SpendDay) => number) => days.reduce((total, day) => total + pick(day), 0);
  return {
    feesPaise: sum((day) => day.feesPaise),
    attemptFeesPaise: sum((day) => day.attemptFeesPaise ?? 0),
    refundsPaise: sum((day) => day.refundsPaise),
    orders: sum((day) => day.orders),
  };
}

/** A day has no time zone: `2026-01-31` as `31 Jan`. */
export function dayLabel(date: string): string {
  return DAY().format(new Date(`${date}T00:00:00Z`));
}

/** The short form for the scale: `₹1.5L`. */
export function compactPaise(paise: number): string {
  return COMPACT().format(paise / 100);
}
