// Labels of delivery and cash statuses.
import type { components } from "../api/schema";
import type { StatusLabel } from "./status-label";

export type DeliveryStatus = components["schemas"]["DeliveryStatus"];
export type CodStatus = components["schemas"]["CodStatus"];

export const DELIVERY_STATUSES: Record<DeliveryStatus, StatusLabel> = {
  created: { label: "Created", tone: "idle" },
  driver_assigned: { label: "Driver assigned", tone: "info" },
  picked_up: { label: "Picked up", tone: "info" },
  out_for_delivery: { label: "Out for delivery", tone: "info" },
  delivered: { label: "Delivered", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
  cancelled: { label: "Cancelled", tone: "warn" },
  returned: { label: "Returned", tone: "warn" },
};

export const COD_STATUSES: Record<CodStatus, StatusLabel> = {
  not_applicable: { label: "No cash", tone: "idle" },
  pending: { label: "Cash to collect", tone: "idle" },
  collected: { label: "Cash collected", tone: "info" },
  handed_over: { label: "Cash handed over", tone: "info" },
  settled: { label: "Cash settled", tone: "good" },
};

/** `driver_dropped_out` as `Driver dropped out`; sentences stay as they are. */
export function sentence(text: string): string {
  const words = text.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
