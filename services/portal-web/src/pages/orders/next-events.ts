// The events that can be simulated next: the delivery's state machine, for the buttons. The server decides.
import type { Order, TimelineEntry } from "../../api/orders";
import type { EventKind } from "../../format/event-labels";

/** Whether the parcel was picked up. Only then can a failed delivery be returned. */
export function wasPickedUp(entries: TimelineEntry[]): boolean {
  return entries.some((entry) => entry.type === "status" && entry.event === "order.picked_up");
}

export function nextEvents(order: Order, pickedUp: boolean): EventKind[] {
  switch (order.status) {
    case "created":
      return ["driver.assigned", "order.failed", "order.cancelled"];
    case "driver_assigned":
      return pickedUp
        ? ["order.out_for_delivery", "driver.unassigned", "order.failed"]
        : ["order.picked_up", "driver.unassigned", "order.failed", "order.cancelled"];
    case "picked_up":
      return ["order.out_for_delivery", "order.failed"];
    case "out_for_delivery":
      return ["order.delivered", "order.failed"];
    case "delivered":
      return nextOfCash(order);
    case "failed":
      return pickedUp ? ["driver.assigned", "order.returned"] : [];
    default:
      return [];
  }
}

function nextOfCash(order: Order): EventKind[] {
  switch (order.codStatus) {
    case "pending":
      return ["cod.collected"];
    case "collected":
      return ["cod.handed_over"];
    case "handed_over":
      return ["cod.settled"];
    default:
      return [];
  }
}

/** Whether the order can still be delivered, or its cash settled. */
export function canRunToEnd(order: Order): boolean {
  if (order.status === "delivered") return nextOfCash(order).length > 0;
  return !["failed", "cancelled", "returned"].includes(order.status);
}

/** Only before the pickup, as in the integration API. */
export function canCancel(order: Order): boolean {
  return (order.status === "created" || order.status === "driver_assigned") && order.failedAttempts === 0;
}

/** Whether the fleet has the parcel after a failed attempt. Release 1.0 did not count attempts, but refunded the others. */
export function awaitsDecision(order: Order): boolean {
  const isNotRefunded = order.mode === "live" && order.refundedPaise === 0;
  return order.status === "failed" && (order.failedAttempts > 0 || isNotRefunded);
}

/** Until the delivery has ended, for users who see the address. */
export function canCorrect(order: Order): boolean {
  const isOpen = !["delivered", "cancelled", "returned"].includes(order.status);
  const isRefunded = order.status === "failed" && !awaitsDecision(order);
  return isOpen && !isRefunded && !order.personalDataErasedAt && !order.personalDataMasked;
}
