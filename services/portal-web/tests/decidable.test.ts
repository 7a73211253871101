// Which orders the preview of a bulk action leaves out.
import { expect, test } from "@playwright/test";
import type { Order } from "../src/api/orders";
import { decidable, replaced } from "../src/pages/exceptions/decidable";

const ATTEMPTS_MAX = 3;

test("an order is cancelled until its pickup", () => {
  const orders: [status: Order["status"], failedAttempts: number, why: string | undefined][] = [
    ["created", 0, undefined],
    ["driver_assigned", 0, undefined],
    ["driver_assigned", 1, "Its driver has the parcel."],
    ["picked_up", 0, "Its driver has the parcel."],
    ["out_for_delivery", 2, "Its driver has the parcel."],
  ];
  for (const [status, failedAttempts, why] of orders) {
    const order = { status, failedAttempts } as Order;
    const { possible, refused } = decidable("cancel", [order], ATTEMPTS_MAX);
    expect([possible.length, refused[0]?.why], `${status} ${failedAttempts}`).toEqual([why ? 0 : 1, why]);
  }
});

test("another attempt needs an address and an attempt that is left; a return needs nothing", () => {
  const orders: [order: Partial<Order>, why: string | undefined][] = [
    [{ failedAttempts: 2 }, undefined],
    [{ failedAttempts: 3 }, "It had all of its 3 attempts."],
    [{ failedAttempts: 1, personalDataErasedAt: "2026-01-31T18:30:00Z" }, "Its address is erased."],
  ];
  for (const [order, why] of orders) {
    const failed = { status: "failed", ...order } as Order;
    expect(decidable("reattempt", [failed], ATTEMPTS_MAX).refused[0]?.why).toBe(why);
    expect(decidable("return", [failed], ATTEMPTS_MAX).refused).toEqual([]);
  }
});

test("a request that others have already says that it replaces them", () => {
  const undecided = { reattempt: null, returnRequestedAt: null } as Order;
  const again = { ...undecided, reattempt: { number: 2 } } as Order;
  const back = { ...undecided, returnRequestedAt: "2026-01-31T18:30:00Z" } as Order;
  const one = "1 of them has a request already: it is replaced, with its day and note.";
  expect(replaced("reattempt", [undecided])).toBeNull();
  expect(replaced("reattempt", [undecided, again])).toBe(one);
  expect(replaced("reattempt", [again, back])).toMatch(/^2 of them have a request already/);
  expect(replaced("return", [again, back]), "a return stays a return").toBe(one);
  expect(replaced("cancel", [undecided])).toBeNull();
});
