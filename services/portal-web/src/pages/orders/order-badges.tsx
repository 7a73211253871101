import type { Order } from "../../api/orders";
import { StatusBadge } from "../../components/status-badge";
import { COD_STATUSES, DELIVERY_STATUSES, type DeliveryStatus } from "../../format/order-labels";

export function DeliveryBadge({ status, pill }: { status: DeliveryStatus; pill?: boolean }) {
  return <StatusBadge {...DELIVERY_STATUSES[status]} pill={pill} />;
}

/** The cash of an order, next to its delivery status. */
export function CodBadge({ order: { status, codStatus } }: { order: Pick<Order, "status" | "codStatus"> }) {
  const isUnreported = status === "delivered" && codStatus === "pending";
  if (isUnreported) return <StatusBadge tone="idle" label="Cash not reported" />;
  return <StatusBadge {...COD_STATUSES[codStatus]} />;
}
