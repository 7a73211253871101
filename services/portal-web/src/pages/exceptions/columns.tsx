import { Anchor, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Exceptions } from "../../api/after-failure";
import type { Order } from "../../api/orders";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { Money } from "../../components/money";
import { Time } from "../../components/time";
import { dayInWords, failureReason, requestedBy } from "../../format/failure-labels";
import { sentence } from "../../format/order-labels";
import { DeliveryBadge, ListedStatus } from "../orders/order-badges";
import { Phone } from "../orders/order-parties";

/** The columns of orders that need attention. */
export const COLUMNS: Column<Exceptions["data"][number]>[] = [
  { key: "order", header: "Order", lead: true, render: (order) => <Name order={order} /> },
  {
    key: "status",
    header: "Status",
    width: "15%",
    render: (order) => <ListedStatus order={order} />,
  },
  { key: "why", header: "Why", width: "26%", render: (order) => <Why order={order} /> },
  {
    key: "to",
    header: "To",
    width: "17%",
    render: (order) => <Receiver order={order} />,
  },
  {
    key: "payment",
    header: "Payment",
    width: "13%",
    render: (order) => <Payment order={order} />,
  },
  {
    key: "since",
    header: "Since",
    width: "12%",
    align: "end",
    render: (order) => <Time at={order.since ?? order.updatedAt} relative />,
  },
];

interface ExceptionCardProps {
  order: Exceptions["data"][number];
  /** Of the order's page. */
  path: string;
  /** Whose order it is, for the staff. */
  business?: string;
  select: ReactNode;
}

/** A row on a phone. The order's page has the rest. */
export function ExceptionCard({ order, path, business, select }: ExceptionCardProps) {
  const { customer, delivery, driver } = order;
  // There is room for one more: the driver who is silent about the parcel, or the city.
  const silent = order.status === "failed" ? null : driver?.phone;
  return (
    <DenseCard>
      <Group gap={8} wrap="nowrap">
        {select}
        <Anchor component={Link} to={path} size="sm" fw={500} truncate>
          {order.orderReference}
        </Anchor>
      </Group>
      <DeliveryBadge status={order.status} />
      <span>
        {[reasonOf(order), business, silent ? "driver " : delivery.city].filter(Boolean).join(", ")}
        {silent && <Phone number={silent} inherit />}
      </span>
      <Time at={order.since ?? order.updatedAt} relative />
      <span>
        {customer.name} {customer.phone && <Phone number={customer.phone} inherit />}
      </span>
      <span>
        <Payment order={order} />
      </span>
    </DenseCard>
  );
}

function Payment({ order: { payment } }: { order: Order }) {
  if (payment.paymentType !== "cod") return "Prepaid";
  return (
    <>
      COD <Money paise={payment.codAmountPaise ?? 0} />
    </>
  );
}

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

function Receiver({ order: { customer, delivery } }: { order: Order }) {
  return (
    <>
      {delivery.city}, {delivery.pincode}
      {customer.phone && (
        <Text size="xs" c="dimmed">
          <Phone number={customer.phone} inherit />
        </Text>
      )}
    </>
  );
}

function Why({ order }: { order: Order }) {
  const { failedAttempts, driver } = order;
  const askedAt = order.status === "failed" && (order.reattempt?.requestedAt ?? order.returnRequestedAt);
  return (
    <>
      {reasonOf(order)}
      {askedAt && (
        <Text size="xs" c="dimmed">
          {reported(order)}. Asked for <Time at={askedAt} />{" "}
          {requestedBy(order.reattempt?.requestedBy ?? order.returnRequestedBy)}
        </Text>
      )}
      {failedAttempts > 0 && (
        <Text size="xs" c="dimmed">
          {failedAttempts === 1 ? "1 failed attempt" : `${failedAttempts} failed attempts`}
        </Text>
      )}
      {driver && (
        <Text size="xs" c="dimmed">
          {driver.name} {driver.phone && <Phone number={driver.phone} inherit />}
        </Text>
      )}
    </>
  );
}

/** Why it needs attention, with the fleet’s own words. */
function reasonOf(order: Order): string {
  const { status, reattempt, returnRequestedAt } = order;
  if (status === "created") return "No driver yet";
  if (status !== "failed") return "No report from the fleet";
  if (reattempt)
    return `Attempt ${reattempt.number}${reattempt.on ? ` on ${dayInWords(reattempt.on)}` : ""} has not begun`;
  if (returnRequestedAt) return "Not returned yet";
  return reported(order);
}

function reported({ reasonCode, reason }: Order): string {
  const reasons = [reasonCode && failureReason(reasonCode), reason && sentence(reason)].filter(Boolean);
  return reasons.join(": ") || "No reason given";
}
