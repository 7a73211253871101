// Amounts are whole paise everywhere; they become rupees only here, by cutting digits and never by dividing.

const RUPEES = new Intl.NumberFormat("en-IN", {
  style: "currency",
  currency: "INR",
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

/** `123456` as `₹1,234.56`. */
export function formatPaise(paise: number): string {
  const sign = paise < 0 ? "-" : "";
  return RUPEES.format(`${sign}${decimalRupees(Math.abs(paise))}` as Intl.StringNumericLiteral);
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
