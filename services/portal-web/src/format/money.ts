// Amounts are integers in paise. Only this file converts them to rupees, by their digits, never by division.
import { perRegion } from "./region";

const RUPEES = perRegion(
  ({ locale }) =>
    new Intl.NumberFormat(locale, {
      style: "currency",
      currency: "INR",
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    }),
);

/** The typographic minus sign, as wide as a plus sign. */
const MINUS = "\u2212";

/** `123456` as `₹1,234.56`. */
export function formatPaise(paise: number): string {
  const amount = RUPEES().format(decimalRupees(Math.abs(paise)) as Intl.StringNumericLiteral);
  return paise < 0 ? `${MINUS}${amount}` : amount;
}

/** With a sign: `+₹1,234.56` or `−₹1,234.56`. */
export function formatMovement(paise: number): string {
  return paise > 0 ? `+${formatPaise(paise)}` : formatPaise(paise);
}

/** `123456` as `1234.56`, for an input field. */
export function decimalRupees(paise: number): string {
  const digits = String(Math.trunc(paise)).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Typed rupees as paise; `null` if invalid. Signs and more than two decimals are invalid. */
export function parseRupees(text: string): number | null {
  const cleaned = text.replace(/[₹,\s]/g, "");
  const match = /^(\d{1,12})(?:\.(\d{0,2}))?$/.exec(cleaned);
  if (!match) return null;
  const [, rupees = "0", paise = ""] = match;
  return Number(`${rupees}${paise.padEnd(2, "0")}`);
}
