import { dayInIndia } from "./day";
import { formatPaise } from "./money";

/** Why a delivery failed, by the fleet's code. */
const FAILURE_REASONS: Record<string, string> = {
  customer_unreachable: "Customer not reached",
  customer_refused: "Customer refused the parcel",
  customer_rescheduled: "Customer asked for another day",
  cash_not_ready: "Cash not ready",
  wrong_address: "Wrong address",
  out_of_area: "Outside of the delivery area",
  premises_closed: "Premises closed",
  parcel_damaged: "Parcel damaged",
  other: "Other reason",
};

/** Who asked for something about an order. The audit logs name people. */
const REQUESTED_BY: Record<string, string> = {
  api_key: "with an API key",
  portal: "by a person in the portal",
  operator: "by the operator",
};

/** Nothing for what an older release stored, and for a word that a later one adds. */
export function requestedBy(word: string | null | undefined): string | undefined {
  return word ? REQUESTED_BY[word] : undefined;
}

/** A code that a later release adds is shown in its own words. */
export function failureReason(code: string): string {
  return FAILURE_REASONS[code] ?? code.replaceAll("_", " ");
}

/** `30` as “30 minutes”, `1440` as “24 hours”. */
export function minutesInWords(minutes: number): string {
  const isHours = minutes >= 60 && minutes % 60 === 0;
  const [count, unit] = isHours ? [minutes / 60, "hour"] : [minutes, "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** `2026-02-03` as “3 February 2026”. */
export function dayInWords(day: string): string {
  const format = new Intl.DateTimeFormat("en-IN", { dateStyle: "long", timeZone: "UTC" });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** The days that an attempt may be asked for, in India. */
export function reattemptDays(now: Date): { first: string; last: string } {
  const DAYS_AHEAD_MAX = 14;
  const first = dayInIndia(now);
  const last = new Date(`${first}T00:00:00Z`);
  last.setUTCDate(last.getUTCDate() + DAYS_AHEAD_MAX);
  return { first, last: last.toISOString().slice(0, 10) };
}

/** What another attempt costs, before it begins. `taken` is what attempts that began have cost. */
export function reattemptFee(paise: number, taken: number): string {
  if (paise === 0) return taken > 0 ? "It takes no further fee." : "It costs no second fee.";
  return `When the attempt begins, its fee of ${formatPaise(paise)} is taken from the wallet.`;
}
