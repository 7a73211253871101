/** Reads values as Medusa stores them: free texts and decimals of any form. */

/** Half a paisa and more is rounded up. Undefined for what is no amount, or less than zero. */
export function paiseOf(amount: unknown): number | undefined {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d+))?$/.exec(decimalText(amount)) ?? [];
  if (whole === undefined) return undefined;
  const digits = fraction.padEnd(3, "0");
  return Number(whole) * 100 + Number(digits.slice(0, 2)) + (Number(digits[2]) >= 5 ? 1 : 0);
}

/** Undefined unless it is a whole number of at least 1. */
export function quantityOf(value: unknown): number | undefined {
  const quantity = Number(decimalText(value));
  return Number.isSafeInteger(quantity) && quantity >= 1 ? quantity : undefined;
}

/** Undefined unless it is more than zero. */
export function weightOf(value: unknown): number | undefined {
  const weight = Number(decimalText(value));
  return Number.isFinite(weight) && weight > 0 ? weight : undefined;
}

/** With the country code. Without one, ten digits are taken for a number in India. */
export function phoneOf(value: unknown): string | undefined {
  const text = textOf(value)?.replace(/[\s().-]/g, "");
  if (text === undefined) return undefined;
  const international = /^(?:\+|00)([1-9]\d{6,14})$/.exec(text)?.[1];
  if (international) return `+${international}`;
  const indian = /^(?:91|0)?([6-9]\d{9})$/.exec(text)?.[1];
  return indian && `+91${indian}`;
}

export function pincodeOf(value: unknown): string | undefined {
  const text = textOf(value)?.replaceAll(" ", "");
  return text && /^[1-9]\d{5}$/.test(text) ? text : undefined;
}

/** On one line, not longer than the service accepts. Undefined for an empty text. */
export function textOf(value: unknown, maxChars = 300): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replace(/\p{Cc}+/gu, " ").trim();
  return [...text].slice(0, maxChars).join("").trim() || undefined;
}

/** A number, a text, or Medusa's object of a big number. */
function decimalText(value: unknown): string {
  if (typeof value === "number" || typeof value === "string") return String(value).trim();
  if (typeof value !== "object" || value === null) return "";
  const { numeric, value: raw } = value as { numeric?: unknown; value?: unknown };
  return decimalText(numeric ?? raw);
}
