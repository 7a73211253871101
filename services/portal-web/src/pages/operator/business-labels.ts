import type { Business } from "../../api/types";
import { type StatusLabel, statusLabel } from "../../format/status-label";

export const BUSINESS_STATUSES: Record<string, StatusLabel> = {
  active: { label: "Active", tone: "good" },
  inactive: { label: "Not approved", tone: "idle" },
  suspended: { label: "Suspended", tone: "bad" },
  closed: { label: "Closed", tone: "idle" },
};

/** A closed business keeps its status, which means nothing any more. One that is being closed can still be suspended. */
export function businessStatus({
  closed,
  closing,
  status,
}: Pick<Business, "closed" | "closing" | "status">): StatusLabel {
  if (closing && !closed && status !== "suspended") return { label: "Closing", tone: "warn" };
  return statusLabel(BUSINESS_STATUSES, closed ? "closed" : status);
}

export const SUBSCRIPTION_STATES: Record<string, StatusLabel> = {
  required: { label: "None", tone: "idle" },
  requested: { label: "Requested", tone: "info" },
  active: { label: "Active", tone: "good" },
  expired: { label: "Expired", tone: "warn" },
};

/** The open go-live items of a business, in words for the operator. */
export const MISSING_ITEMS: Record<string, string> = {
  successful_test_order: "No test order has succeeded yet",
  business_active: "The business is not approved",
  subscription_active: "No subscription is active",
  live_access_active: "Live access is not granted",
  wallet_funded: "The wallet has not been funded",
  pickup_profile_complete: "The pickup profile is incomplete",
};
