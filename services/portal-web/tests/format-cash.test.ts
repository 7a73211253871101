// How a difference of an order's cash is worded.
import { expect, test } from "@playwright/test";
import { cashDifference } from "../src/format/cash-labels";

test("the last step with another amount is named", () => {
  const amounts: [paise: (number | null)[], text: string][] = [
    [[10_000, 9_000, null, null], "₹10.00 less collected than expected"],
    [[10_000, 9_000, 8_000, null], "₹20.00 less handed over than expected"],
    [[10_000, 9_000, 8_000, 11_000], "₹10.00 more settled than expected"],
    [[10_000, 9_000, 9_000, 10_000], "Settled in full, after a step with another amount"],
    [[10_000, 11_000, 11_000, 10_000], "₹10.00 more handed over than expected"],
    [[10_000, 11_000, 10_000, 10_000], "₹10.00 more collected than expected"],
    [[10_000, 10_000, 10_000, 10_000, 9_000], "₹90.00 reported as settled, ₹100.00 paid"],
    [[null, 9_000, 8_000, null], "The amounts do not match"],
  ];
  for (const [paise, text] of amounts) {
    const [expectedPaise, collectedPaise, handedOverPaise, settledPaise, reported] = paise;
    const steps = { expectedPaise, collectedPaise, handedOverPaise, settledPaise };
    expect(cashDifference({ ...steps, reportedSettledPaise: reported ?? null })).toBe(text);
  }
});
