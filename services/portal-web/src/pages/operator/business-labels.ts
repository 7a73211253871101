import type { StatusLabel } from "../../format/status-label";

export const BUSINESS_STATUSES: Record<string, StatusLabel> = {
  active: { label: "Active", tone: "good" },
  inactive: { label: "Not approved", tone: "idle" },
  suspended: { label: "Suspended", tone: "bad" },
};

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
