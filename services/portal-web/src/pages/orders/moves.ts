// What can be simulated next: the state machine of a delivery as far as buttons need it. The server decides.
import type { Order, TimelineEntry } from "../../api/orders";
import type { EventKind } from "../../format/event-words";

/** Whether a driver ever held the parcel; it decides what may follow a failure. */
export function wasPickedUp(entries: TimelineEntry[]): boolean {
  return entries.some((entry) => entry.type === "status" && entry.event === "order.picked_up");
}

export function nextMoves(order: Order, pickedUp: boolean): EventKind[] {
  switch (order.status) {
    case "created":
      return ["driver.assigned", "order.failed", "order.cancelled"];
    case "driver_assigned":
      return ["order.picked_up", "driver.unassigned", "order.failed", "order.cancelled"];
    case "picked_up":
      return ["order.out_for_delivery", "order.failed"];
    case "out_for_delivery":
      return ["order.delivered", "order.failed"];
    case "delivered":
      return nextOfCash(order);
    case "failed":
      return pickedUp ? ["order.returned"] : [];
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

/** Whether the order can still go on to a delivery, and its cash to a settlement. */
export function canRunToEnd(order: Order): boolean {
  if (order.status === "delivered") return nextOfCash(order).length > 0;
  return !["failed", "cancelled", "returned"].includes(order.status);
}

/** Before the pickup, as the integration API has it. */
export function canCancel(order: Order): boolean {
  return order.status === "created" || order.status === "driver_assigned";
}
