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

/** Digits in Indian (`1,00,000`), western (`100,000`) or no groups, and up to two decimals. */
const TYPED = /^(\d{1,12}|\d{1,2}(?:,\d{2}){0,4},\d{3}|\d{1,3}(?:,\d{3}){1,3})(?:\.(\d{0,2}))?$/;

/**
 * Typed rupees as paise; `null` if invalid. Signs and more than two decimals are invalid, and so is any comma that groups
 * no digits: `10,50` would be read as 1050.
 */
export function parseRupees(text: string): number | null {
  const match = TYPED.exec(text.replace(/^\s*₹?\s*|\s+$/g, ""));
  if (!match) return null;
  const [, rupees = "0", paise = ""] = match;
  return Number(`${rupees.replaceAll(",", "")}${paise.padEnd(2, "0")}`);
}
