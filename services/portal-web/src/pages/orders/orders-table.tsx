import { Anchor, Text, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { PagedList } from "../../api/list";
import type { Order } from "../../api/orders";
import type { Mode } from "../../api/types";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import linked from "../../components/linked-rows.module.css";
import { ListFrame } from "../../components/list-section";
import { Money } from "../../components/money";
import { Time } from "../../components/time";
import { askedFor, CodBadge, DeliveryBadge, ListedStatus } from "./order-badges";
import classes from "./orders.module.css";

interface OrdersTableProps {
  orders: PagedList<Order>;
  mode: Mode;
  /** The latest new orders, which are announced and highlighted. */
  latest: Order[];
  empty: ReactNode;
}

export function OrdersTable({ orders, mode, latest, empty }: OrdersTableProps) {
  return (
    <ListFrame
      label={mode === "test" ? "Test orders" : "Live orders"}
      list={orders}
      failed="The orders could not be loaded"
      columns={orderColumns(orderPath)}
      card={(order) => <OrderCard order={order} path={orderPath(order)} />}
      rowKey={(order) => order.id}
      rowClass={(order) =>
        latest.some(({ id }) => id === order.id) ? `${linked.row} ${classes.arrived}` : linked.row
      }
      showsCount
      empty={empty}
    >
      <Arrivals latest={latest} />
    </ListFrame>
  );
}

function orderPath({ id }: Order): string {
  return `/orders/${id}`;
}

/** The columns of a list of orders, whose pages are at these paths. */
export const orderColumns = (path: (order: Order) => string): Column<Order>[] => [
  {
    key: "order",
    header: "Order",
    lead: true,
    render: (order) => <Name order={order} path={path(order)} />,
  },
  {
    key: "status",
    header: "Status",
    width: "17%",
    render: (order) => <ListedStatus order={order} />,
  },
  { key: "to", header: "To", width: "20%", render: (order) => <Receiver order={order} /> },
  { key: "payment", header: "Payment", width: "17%", render: (order) => <Payment order={order} /> },
  {
    key: "fee",
    header: "Delivery fee",
    width: "11%",
    align: "end",
    render: (order) => <Fee order={order} />,
  },
  {
    key: "created",
    header: "Created",
    width: "14%",
    align: "end",
    render: (order) => <Time at={order.createdAt} relative />,
  },
];

function Fee({ order: { mode, payment, refundedPaise } }: { order: Order }) {
  if (mode === "test") return "Free";
  return (
    <>
      <Money paise={payment.deliveryFeePaise} />
      {refundedPaise > 0 && (
        <Text size="xs" c="dimmed">
          Refunded
        </Text>
      )}
    </>
  );
}

interface RowProps {
  order: Order;
  /** Of the order's page. */
  path: string;
}

function Name({ order, path }: RowProps) {
  return (
    <>
      <Anchor component={Link} to={path} className={linked.open} size="sm" fw={500}>
        {order.orderReference}
      </Anchor>
      <Text size="xs" c="dimmed" ff="monospace" className={linked.clip}>
        {order.trackingCode}
      </Text>
    </>
  );
}

function Receiver({ order }: { order: Order }) {
  return (
    <>
      <Text className={linked.clip}>{order.customer.name}</Text>
      <Text size="xs" c="dimmed" className={linked.clip}>
        {order.delivery.city}, {order.delivery.pincode}
      </Text>
    </>
  );
}

function Payment({ order }: { order: Order }) {
  if (order.payment.paymentType === "prepaid") return <Text>Prepaid</Text>;
  return (
    <>
      <Text>
        COD <Money paise={order.payment.codAmountPaise ?? 0} />
      </Text>
      <CodBadge order={order} />
    </>
  );
}

/** A row on a phone. */
export function OrderCard({ order, path }: RowProps) {
  const { mode, payment, customer, delivery, refundedPaise } = order;
  const isCod = payment.paymentType === "cod";
  return (
    <DenseCard>
      <Anchor component={Link} to={path} className={linked.open} size="sm" fw={500}>
        {order.orderReference}
      </Anchor>
      <DeliveryBadge status={order.status} />
      <span>{[askedFor(order), customer.name, delivery.city].filter(Boolean).join(", ")}</span>
      <span>
        {isCod ? (
          <>
            COD <Money paise={payment.codAmountPaise ?? 0} />
          </>
        ) : (
          "Prepaid"
        )}
      </span>
      <Time at={order.createdAt} relative />
      {isCod ? (
        <CodBadge order={order} />
      ) : (
        <span>
          {mode === "test" ? (
            "Free"
          ) : (
            <>
              Fee <Money paise={payment.deliveryFeePaise} />
              {refundedPaise > 0 && ", refunded"}
            </>
          )}
        </span>
      )}
    </DenseCard>
  );
}

/** Announces new orders to screen readers. */
function Arrivals({ latest }: { latest: Order[] }) {
  const [newest, ...others] = latest;
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {newest && others.length === 0 && `New order ${newest.orderReference}`}
      {newest && others.length > 0 && `${latest.length} new orders, the newest is ${newest.orderReference}`}
    </VisuallyHidden>
  );
}
