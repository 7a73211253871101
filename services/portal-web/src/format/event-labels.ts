// Labels of event kinds, in the order of a delivery.
import type { components } from "../api/schema";

export type EventKind = components["schemas"]["EventKind"];

export interface EventLabel {
  kind: EventKind;
  label: string;
  /** Whether a new endpoint subscribes to it by default. */
  isDefault: boolean;
}

/** The events that an endpoint can subscribe to, if the operator switched all of them on. */
export const SUBSCRIBABLE: EventLabel[] = [
  { kind: "order.created", label: "Order created", isDefault: true },
  { kind: "driver.assigned", label: "Driver assigned", isDefault: true },
  { kind: "driver.unassigned", label: "Driver unassigned", isDefault: false },
  { kind: "order.picked_up", label: "Picked up", isDefault: true },
  { kind: "order.out_for_delivery", label: "Out for delivery", isDefault: true },
  { kind: "order.delivered", label: "Delivered", isDefault: true },
  { kind: "order.failed", label: "Delivery failed", isDefault: true },
  { kind: "order.cancelled", label: "Order cancelled", isDefault: true },
  { kind: "order.reattempt_scheduled", label: "Another attempt requested", isDefault: false },
  { kind: "order.returning", label: "Return requested", isDefault: false },
  { kind: "order.returned", label: "Returned to pickup", isDefault: false },
  { kind: "cod.collected", label: "Cash collected", isDefault: true },
  { kind: "cod.handed_over", label: "Cash handed over", isDefault: true },
  { kind: "cod.settled", label: "Cash settled", isDefault: true },
  { kind: "wallet.low_balance", label: "Wallet balance low", isDefault: false },
];

const REQUESTS: EventKind[] = ["order.reattempt_scheduled", "order.returning"];

/** The events that this installation offers to endpoints. An event that the endpoint has already stays in the list. */
export function subscribable(hasRequests: boolean, chosen: EventKind[]): EventLabel[] {
  return SUBSCRIBABLE.filter(({ kind }) => hasRequests || !REQUESTS.includes(kind) || chosen.includes(kind));
}

export const DEFAULT_EVENTS: EventKind[] = SUBSCRIBABLE.filter((one) => one.isDefault).map((one) => one.kind);

/** The events of orders. */
export const ORDER_EVENTS: EventKind[] = SUBSCRIBABLE.map((one) => one.kind).filter(
  (kind) => kind !== "wallet.low_balance",
);

/** The events in a delivery log: subscribed events and test events. */
export const LOGGED: EventKind[] = [...SUBSCRIBABLE.map((one) => one.kind), "webhook.test"];

export function eventLabel(kind: EventKind): string {
  if (kind === "webhook.test") return "Test event";
  return SUBSCRIBABLE.find((one) => one.kind === kind)?.label ?? kind;
}
