// Merges new orders and status changes into a loaded list.
import type { InfiniteData } from "@tanstack/react-query";
import type { Order } from "./orders";
import type { List } from "./types";

export type OrderPages = InfiniteData<List<Order>, string | undefined>;

/** One order event of the stream. */
export type OrderUpdate = Pick<Order, "id" | "status" | "codStatus" | "mode"> & {
  event: string;
  recordedAt: string;
};

/** Limits a first page that grows by new orders; “Show more” loads the rest again. */
const LIVE_ROWS_MAX = 200;

export function isListed(pages: OrderPages, id: string): boolean {
  return pages.pages.some((page) => page.data.some((order) => order.id === id));
}

/** The list with the order's new status. */
export function withUpdate(pages: OrderPages, update: OrderUpdate): OrderPages {
  return mapOrders(pages, (order) =>
    order.id === update.id
      ? { ...order, status: update.status, codStatus: update.codStatus, updatedAt: update.recordedAt }
      : order,
  );
}

/**
 * The list with the newest page merged in; the same list if nothing is new, and `null` if orders between the two would be missing.
 * The page may have been read before a change that the list has.
 */
export function withNewest(known: OrderPages, newest: List<Order>): OrderPages | null {
  const [first, ...rest] = known.pages;
  if (!first) return null;
  const arrived = newest.data.filter((order) => !isListed(known, order.id));
  if (arrived.length > 0 && arrived.length === newest.data.length && newest.hasMore) return null;
  const renewed = new Map(newest.data.map((order) => [order.id, order]));
  const data = [...arrived, ...first.data.map((order) => later(order, renewed.get(order.id)))];
  if (arrived.length === 0 && data.every((order, at) => order.updatedAt === first.data[at]?.updatedAt)) {
    return known;
  }
  const pages = [{ ...first, data }, ...rest];
  if (rest.length === 0 && data.length > LIVE_ROWS_MAX) {
    pages[0] = { data: data.slice(0, LIVE_ROWS_MAX), hasMore: true };
  }
  return { ...known, pages };
}

function later(known: Order, read: Order | undefined): Order {
  return read && Date.parse(read.updatedAt) >= Date.parse(known.updatedAt) ? read : known;
}

function mapOrders(pages: OrderPages, change: (order: Order) => Order): OrderPages {
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, data: page.data.map(change) })) };
}
