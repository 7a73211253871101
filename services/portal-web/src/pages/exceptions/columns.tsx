import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import type { Order } from "../../api/orders";
import type { Column } from "../../components/data-table";
import { Time } from "../../components/time";
import { dayInWords, failureReason } from "../../format/failure-labels";
import { sentence } from "../../format/order-labels";
import { DeliveryBadge } from "../orders/order-badges";

/** The columns of orders that need attention. */
export const COLUMNS: Column<Order>[] = [
  { key: "order", header: "Order", lead: true, render: (order) => <Name order={order} /> },
  {
    key: "status",
    header: "Status",
    width: "17%",
    render: ({ status }) => <DeliveryBadge status={status} />,
  },
  { key: "why", header: "Why", width: "30%", render: (order) => <Why order={order} /> },
  {
    key: "to",
    header: "To",
    width: "18%",
    render: ({ delivery }) => `${delivery.city}, ${delivery.pincode}`,
  },
  {
    key: "since",
    header: "Since",
    width: "14%",
    align: "end",
    render: (order) => <Time at={order.updatedAt} relative />,
  },
];

function Name({ order }: { order: Order }) {
  return (
    <>
      <Anchor component={Link} to={`/orders/${order.id}`} size="sm" fw={500}>
        {order.orderReference}
      </Anchor>
      <Text size="xs" c="dimmed">
        {order.customer.name}
      </Text>
    </>
  );
}

function Why({ order }: { order: Order }) {
  const { status, reattempt, returnRequestedAt, reasonCode, reason } = order;
  if (status === "created") return "No driver yet";
  if (status !== "failed") return "No report from the fleet";
  if (reattempt)
    return `Attempt ${reattempt.number} was due${reattempt.on ? ` on ${dayInWords(reattempt.on)}` : ""}`;
  if (returnRequestedAt) return "Not returned yet";
  if (reasonCode) return failureReason(reasonCode);
  return reason ? sentence(reason) : "No reason given";
}
