// Labels of cash statuses and ages.
import type { StatusLabel } from "./status-label";

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
