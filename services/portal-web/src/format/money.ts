// Amounts are whole paise everywhere; they become rupees only here, by cutting digits and never by dividing.
import { placed } from "./place";

const RUPEES = placed(
  ({ locale }) =>
    new Intl.NumberFormat(locale, {
      style: "currency",
      currency: "INR",
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    }),
);

/** As typography has it, and as wide as a plus. */
const MINUS = "\u2212";

/** `123456` as `₹1,234.56`. */
export function formatPaise(paise: number): string {
  const amount = RUPEES().format(decimalRupees(Math.abs(paise)) as Intl.StringNumericLiteral);
  return paise < 0 ? `${MINUS}${amount}` : amount;
}

/** Where it matters which way money goes: `+₹1,234.56` or `−₹1,234.56`. */
export function formatMovement(paise: number): string {
  return paise > 0 ? `+${formatPaise(paise)}` : formatPaise(paise);
}

/** `123456` as `1234.56`, as somebody would type it. */
export function decimalRupees(paise: number): string {
  const digits = String(Math.trunc(paise)).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Typed rupees as paise; `null` for what is no amount. Signs and more than two decimals are none. */
export function parseRupees(text: string): number | null {
  const cleaned = text.replace(/[₹,\s]/g, "");
  const match = /^(\d{1,12})(?:\.(\d{0,2}))?$/.exec(cleaned);
  if (!match) return null;
  const [, rupees = "0", paise = ""] = match;
  return Number(`${rupees}${paise.padEnd(2, "0")}`);
}
