import { Text } from "@mantine/core";
import type { Order } from "../../api/orders";
import { StatusBadge } from "../../components/status-badge";
import { formatDay } from "../../format/day";
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

type Asked = Pick<Order, "status" | "reattempt" | "returnRequestedAt">;

/** What the business asked for after a failure; `null` for other orders. */
export function askedFor({ status, reattempt, returnRequestedAt }: Asked): string | null {
  if (status !== "failed") return null;
  if (reattempt)
    return reattempt.on ? `Another attempt on ${formatDay(reattempt.on)}` : "Another attempt soon";
  return returnRequestedAt ? "Returning" : null;
}

/** The status in a list, with what was asked for. */
export function ListedStatus({ order }: { order: Order }) {
  const asked = askedFor(order);
  return (
    <>
      <DeliveryBadge status={order.status} />
      {asked && (
        <Text size="xs" c="dimmed">
          {asked}
        </Text>
      )}
    </>
  );
}
