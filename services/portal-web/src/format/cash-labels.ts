// Labels of cash statuses and ages.
import type { Cash } from "../api/cash";
import { formatPaise } from "./money";
import type { StatusLabel } from "./status-label";

type Amounts = Pick<
  Cash,
  "expectedPaise" | "collectedPaise" | "handedOverPaise" | "settledPaise" | "reportedSettledPaise"
>;

export const CASH_STATUSES: Record<string, StatusLabel> = {
  pending: { label: "Delivered, cash not reported", tone: "idle" },
  collected: { label: "With the driver", tone: "info" },
  handed_over: { label: "With the delivery company", tone: "info" },
  settled: { label: "Settled", tone: "good" },
};

/** `0-1` as `Up to 1 day`. */
export const CASH_AGES: Record<string, string> = {
  "0-1": "Up to 1 day",
  "1-3": "1 to 3 days",
  "3-7": "3 to 7 days",
  "7+": "More than 7 days",
};

/** The page of the business with its late cash. */
export const LATE_CASH = "/cash-on-delivery?late=true";

export function orderCount(orders: number): string {
  return orders === 1 ? "1 order" : `${orders} orders`;
}

/** The last step with an unexpected amount, like `differencePaise`. */
export function cashDifference({
  expectedPaise,
  collectedPaise,
  handedOverPaise,
  settledPaise,
  reportedSettledPaise,
}: Amounts): string {
  if (reportedSettledPaise != null && settledPaise != null)
    return `${formatPaise(reportedSettledPaise)} reported as settled, ${formatPaise(settledPaise)} paid`;
  if (expectedPaise != null && settledPaise === expectedPaise && (collectedPaise ?? 0) <= expectedPaise)
    return "Settled in full, after a step with another amount";
  const steps: [name: string, paise: number | null | undefined][] = [
    ["settled", settledPaise],
    ["handed over", handedOverPaise],
    ["collected", collectedPaise],
  ];
  for (const [name, paise] of steps) {
    if (paise == null || expectedPaise == null || paise === expectedPaise) continue;
    const difference = formatPaise(Math.abs(paise - expectedPaise));
    return `${difference} ${paise < expectedPaise ? "less" : "more"} ${name} than expected`;
  }
  return "The amounts do not match";
}
