import { Badge } from "@mantine/core";
import type { Order } from "../api/orders";
import { DELIVERY_STATUSES } from "../format/order-labels";
import { statusLabel } from "../format/status-label";
import type { SearchHit } from "./search-dialog";
import { StatusBadge } from "./status-badge";

/** An order as the search shows it. */
export function orderHit(order: Order, path: string, business?: string): SearchHit {
  const { name } = order.customer;
  const area = [order.delivery.city, order.delivery.pincode].filter(Boolean).join(" ");
  return {
    id: order.id,
    path,
    title: order.orderReference,
    details: [business, name, area].filter(Boolean).join(" · "),
    marks: (
      <>
        <StatusBadge {...statusLabel(DELIVERY_STATUSES, order.status)} />
        <Badge size="sm">{order.mode === "test" ? "Test" : "Live"}</Badge>
      </>
    ),
  };
}
