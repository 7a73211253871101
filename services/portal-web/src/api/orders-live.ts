// Orders that move or arrive while their list is shown, put into the list as it is.
import type { InfiniteData } from "@tanstack/react-query";
import type { Order } from "./orders";
import type { List } from "./types";

export type OrderPages = InfiniteData<List<Order>, string | undefined>;

/** What the stream tells of an order after an event. */
export type MovedOrder = Pick<Order, "id" | "status" | "codStatus" | "mode"> & {
  event: string;
  recordedAt: string;
};

/** A list that only grows by what arrives is cut at this length; the rest is read again on request. */
const LIVE_ROWS_MAX = 200;

export function isListed(pages: OrderPages, id: string): boolean {
  return pages.pages.some((page) => page.data.some((order) => order.id === id));
}

/** The list with the order's new state in its place. */
export function withMove(pages: OrderPages, moved: MovedOrder): OrderPages {
  return mapOrders(pages, (order) =>
    order.id === moved.id
      ? { ...order, status: moved.status, codStatus: moved.codStatus, updatedAt: moved.recordedAt }
      : order,
  );
}

/**
 * The list with the newest page before it; `null` when the two do not meet, so that something would be missing between.
 */
export function withNewest(known: OrderPages, newest: List<Order>): OrderPages | null {
  const [first, ...rest] = known.pages;
  if (!first) return null;
  const arrived = newest.data.filter((order) => !isListed(known, order.id));
  if (arrived.length === newest.data.length && newest.hasMore) return null;
  const renewed = new Map(newest.data.map((order) => [order.id, order]));
  const data = [...arrived, ...first.data.map((order) => renewed.get(order.id) ?? order)];
  const pages = [{ ...first, data }, ...rest];
  if (rest.length === 0 && data.length > LIVE_ROWS_MAX) {
    pages[0] = { data: data.slice(0, LIVE_ROWS_MAX), hasMore: true };
  }
  return { ...known, pages };
}

function mapOrders(pages: OrderPages, change: (order: Order) => Order): OrderPages {
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, data: page.data.map(change) })) };
}
