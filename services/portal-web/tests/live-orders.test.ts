// How a loaded list of orders takes in new orders and changes.
import { expect, test } from "@playwright/test";
import type { Order } from "../src/api/orders";
import { type OrderPages, withNewest, withUpdate } from "../src/api/orders-live";

function order(id: string, status: Order["status"], updatedAt: string): Order {
  return { id, status, updatedAt } as Order;
}

function pages(...data: Order[]): OrderPages {
  return { pages: [{ data, hasMore: false }], pageParams: [undefined] };
}

test("a page that was read before a change does not undo it", () => {
  const before = order("ord_1", "created", "2026-01-01T00:00:00Z");
  const change = { id: "ord_1", status: "cancelled", codStatus: "not_applicable", mode: "test" } as const;
  const known = withUpdate(pages(before), {
    ...change,
    event: "order.cancelled",
    recordedAt: "2026-01-01T00:00:01Z",
  });
  const added = order("ord_2", "created", "2026-01-01T00:00:02Z");
  const merged = withNewest(known, { data: [added, before], hasMore: false });
  expect(merged?.pages[0]?.data.map(({ id, status }) => [id, status])).toEqual([
    ["ord_2", "created"],
    ["ord_1", "cancelled"],
  ]);
  const delivered = order("ord_1", "delivered", "2026-01-01T00:00:03Z");
  const later = withNewest(known, { data: [delivered], hasMore: false });
  expect(later?.pages[0]?.data.map(({ status }) => status)).toEqual(["delivered"]);
});
