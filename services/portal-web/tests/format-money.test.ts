// Which texts are amounts.
import { expect, test } from "@playwright/test";
import { parseRupees } from "../src/format/money";

test("an amount may be grouped as in India or in the west", () => {
  const amounts = { "500": 50_000, "0.5": 50, "₹ 1,402.52 ": 140_252, "1,00,000.50": 10_000_050 };
  for (const [text, paise] of Object.entries({
    ...amounts,
    "100,000.50": 10_000_050,
    "1,000,000": 100_000_000,
  }))
    expect(parseRupees(text), text).toBe(paise);
});

test("a comma that groups no digits is no amount, so a decimal comma never becomes a hundredfold", () => {
  for (const text of [
    "10,50",
    "10,5",
    "₹ 1,00.50",
    "1,0000",
    "1000,000",
    "1,234,56,789",
    "-5",
    "1.005",
    "1 000",
    "",
  ])
    expect(parseRupees(text), text).toBeNull();
});
