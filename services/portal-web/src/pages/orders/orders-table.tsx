import { Anchor, Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link } from "react-router-dom";
import type { PagedList } from "../../api/list";
import type { Order } from "../../api/orders";
import type { Mode } from "../../api/types";
import type { Column } from "../../components/data-table";
import linked from "../../components/linked-rows.module.css";
import { ListFrame } from "../../components/list-section";
import { Money } from "../../components/money";
import { Time } from "../../components/time";
import { CodBadge, DeliveryBadge } from "./order-badges";
import classes from "./orders.module.css";

interface OrdersTableProps {
  orders: PagedList<Order>;
  mode: Mode;
  /** Ids of new orders, which are highlighted for a moment. */
  arrived: ReadonlySet<string>;
  /** Identifies the filter of the list. */
  filterKey: string;
  empty: ReactNode;
}

export function OrdersTable({ orders, mode, arrived, filterKey, empty }: OrdersTableProps) {
  return (
    <ListFrame
      label={mode === "test" ? "Test orders" : "Live orders"}
      list={orders}
      failed="The orders could not be loaded"
      columns={COLUMNS}
      rowKey={(order) => order.id}
      rowClass={(order) => (arrived.has(order.id) ? `${linked.row} ${classes.arrived}` : linked.row)}
      showsCount
      empty={empty}
    >
      <Arrivals key={filterKey} orders={orders.rows} isLoading={orders.isPending} arrived={arrived} />
    </ListFrame>
  );
}

const COLUMNS: Column<Order>[] = [
  { key: "order", header: "Order", lead: true, render: (order) => <Name order={order} /> },
  {
    key: "status",
    header: "Status",
    width: "17%",
    render: (order) => <DeliveryBadge status={order.status} />,
  },
  { key: "to", header: "To", width: "20%", render: (order) => <Receiver order={order} /> },
  { key: "payment", header: "Payment", width: "17%", render: (order) => <Payment order={order} /> },
  {
    key: "fee",
    header: "Delivery fee",
    width: "11%",
    align: "end",
    render: (order) => <Money paise={order.payment.deliveryFeePaise} />,
  },
  {
    key: "created",
    header: "Created",
    width: "14%",
    align: "end",
    render: (order) => <Time at={order.createdAt} relative />,
  },
];

function Name({ order }: { order: Order }) {
  return (
    <>
      <Anchor component={Link} to={`/orders/${order.id}`} className={linked.open} size="sm" fw={500}>
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
      <CodBadge status={order.codStatus} />
    </>
  );
}

interface ArrivalsProps {
  orders: Order[];
  isLoading: boolean;
  arrived: ReadonlySet<string>;
}

/**
 * Announces new orders to screen readers, once each. Those that came before the list was shown are not new; a later one may
 * be listed before its event arrives.
 */
function Arrivals({ orders, isLoading, arrived }: ArrivalsProps) {
  const first = useRef<ReadonlySet<string> | null>(null);
  const announced = useRef(arrived);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (isLoading) return;
    const atFirst = first.current ?? new Set(orders.map((order) => order.id));
    first.current = atFirst;
    const isNew = ({ id }: Order) => arrived.has(id) && !atFirst.has(id) && !announced.current.has(id);
    const news = orders.filter(isNew);
    if (!news[0]) return;
    const newest = news[0].orderReference;
    setWords(news.length > 1 ? `${news.length} new orders, the newest is ${newest}` : `New order ${newest}`);
    const ids = [...announced.current, ...news.map((order) => order.id)];
    announced.current = new Set(ids.filter((id) => arrived.has(id)));
  }, [orders, isLoading, arrived]);
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {words}
    </VisuallyHidden>
  );
}
