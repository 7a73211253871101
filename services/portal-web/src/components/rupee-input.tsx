import { TextInput, type TextInputProps } from "@mantine/core";
import { formatPaise, parseRupees } from "../format/money";

/** The server's maximum: ₹100 crore. */
const PAISE_MAX = 100_000_000_000;

/** An amount in rupees, as text. Forms convert it to paise on submit. */
export function RupeeInput(props: TextInputProps) {
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      leftSection={<span aria-hidden="true">₹</span>}
      classNames={{ input: "numbers" }}
      {...props}
    />
  );
}

/** Validates an amount before it is sent. */
export function rupeesError(text: string, minPaise: number): string | null {
  const paise = parseRupees(text);
  if (paise === null) return "Enter an amount in rupees, such as 500 or 1,500.50. Paise follow a point.";
  if (paise < minPaise) return `Enter at least ${formatPaise(minPaise)}.`;
  return paise > PAISE_MAX ? `Enter at most ${formatPaise(PAISE_MAX)}.` : null;
}
