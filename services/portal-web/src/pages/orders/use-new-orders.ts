import { useEffect, useRef, useState } from "react";
import type { Order, OrderFilter } from "../../api/orders";

/**
 * The latest orders that joined the list since it was loaded. The list alone decides: the stream may miss the event of an
 * order, or deliver it after the list.
 */
export function useNewOrders(orders: Order[] | undefined, filter: OrderFilter): Order[] {
  /** Ids that any filter has shown. */
  const shown = useRef(new Set<string>());
  const first = useRef<{ list: string; oldest: string } | null>(null);
  const [latest, setLatest] = useState<Order[]>([]);
  // Orders enter all other lists by their creation alone.
  const isOfChanges = filter.status !== undefined && filter.status !== "created";
  const list = JSON.stringify(filter);
  useEffect(() => {
    if (!orders) return;
    const isFirst = first.current?.list !== list;
    if (isFirst) first.current = { list, oldest: orders.at(-1)?.id ?? "" };
    const oldest = first.current?.oldest ?? "";
    // Ids sort by time. “Show more” adds older orders.
    const isNew = ({ id }: Order) => !isFirst && !isOfChanges && id > oldest && !shown.current.has(id);
    const joined = orders.filter(isNew);
    for (const { id } of orders) shown.current.add(id);
    if (isFirst || joined.length > 0) setLatest(joined);
  }, [orders, list, isOfChanges]);
  return latest;
}
