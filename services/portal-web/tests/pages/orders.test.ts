import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { placeOrder, report } from "../support/api";
import { screenshot, type Visitor, visit } from "../support/browser";
import { ask, newBusiness, newTestKey, openLive } from "../support/business";
import { check } from "../support/page-checks";
import { fact, heading, row, rowsOf } from "../support/pages";
import { Receiver } from "../support/receiver";

let visitor: Visitor;
let key: string;
beforeAll(async () => {
  visitor = await visit();
  await newBusiness(visitor, "Order book");
  key = await newTestKey(visitor);
});

const COD = {
  payment: {
    paymentType: "cod",
    orderValuePaise: 150_000,
    deliveryFeePaise: 4_900,
    codAmountPaise: 154_900,
    currency: "INR",
  },
};

test("an order is found by its reference, its tracking code and its id, and by its status", async () => {
  const { page } = visitor;
  const [wanted] = [await placeOrder(key, "book-1"), await placeOrder(key, "book-2")];
  await page.goto("/orders");
  await row(page, "Test orders", "book-2").waitFor();
  const search = page.getByLabel("Find an order");
  for (const name of ["book-1", wanted.trackingCode, ` ${wanted.id} `]) {
    await search.fill(name);
    await row(page, "Test orders", "book-2").waitFor({ state: "detached" });
    await row(page, "Test orders", "book-1").waitFor();
    await page.getByRole("button", { name: "Clear search" }).click();
    await row(page, "Test orders", "book-2").waitFor();
  }
  await search.fill("book");
  await page.getByText("No matching order").waitFor();
  await page.getByRole("button", { name: "Show all orders" }).click();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Delivered" });
  await page.getByText("No order has this status").waitFor();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Created" });
  await row(page, "Test orders", "book-1").waitFor();
  // None of these orders is new.
  expect(await page.getByText(/^New order/).count()).toBe(0);
  await page.getByRole("button", { name: "Clear search" }).waitFor({ state: "hidden" });
  await placeOrder(key, "book-3");
  await page.getByRole("status").filter({ hasText: "New order book-3" }).waitFor({ state: "attached" });
});

test("an order is found in any spelling, and the other mode's hit is offered", async () => {
  const shop = await visit();
  const { page } = shop;
  const liveKey = await openLive(shop, await newBusiness(shop, "Speller"));
  const testKey = await newTestKey(shop);
  await placeOrder(liveKey, "WEB-1001");
  await placeOrder(testKey, "#2002");
  await page.goto("/orders?mode=live");
  await row(page, "Live orders", "WEB-1001").waitFor();
  const search = page.getByLabel("Find an order");
  for (const typed of ["web-1001", "#web-1001", "Web-1001"]) {
    await search.fill(typed);
    await page.waitForURL((url) => url.searchParams.get("search") === typed);
    await row(page, "Live orders", "WEB-1001").waitFor();
    expect(await search.inputValue()).toBe(typed);
  }
  await search.fill("2002");
  await page.getByText("No live order matches, but a test order does").waitFor();
  await check(page, "orders-other-mode", { bothSizes: true });
  await page.getByRole("button", { name: "Show in test orders" }).click();
  await row(page, "Test orders", "#2002").waitFor();
  await search.fill("nowhere");
  await page.getByText("No matching order").waitFor();
});

test("a live business sees its live orders first, and then what it chose last", async () => {
  const shop = await visit();
  const { page } = shop;
  const live = await newBusiness(shop, "Two modes");
  await placeOrder(await openLive(shop, live), "two-modes-live");
  await page.goto("/orders");
  await row(page, "Live orders", "two-modes-live").waitFor();
  await page.getByRole("tab", { name: "Test orders" }).click();
  await row(page, "Test orders", `first-of-${live.id}`).waitFor();
  await page.goto("/orders");
  await row(page, "Test orders", `first-of-${live.id}`).waitFor();
  // Another business in the same browser has its own choice.
  const other = await newBusiness(shop, "Other modes");
  await openLive(shop, other);
  await page.goto("/orders");
  await page.getByText("No live orders yet").waitFor();
});

test("a delivered order says that its cash is not reported", async () => {
  const shop = await visit();
  const { page } = shop;
  const liveKey = await openLive(shop, await newBusiness(shop, "Unreported"));
  const order = await placeOrder(liveKey, "unreported-1", COD);
  await page.goto("/orders?mode=live");
  await row(page, "Live orders", "unreported-1").getByText("Cash to collect").waitFor();
  for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"])
    await report(order.id, event);
  await row(page, "Live orders", "unreported-1").getByText("Cash not reported").waitFor();
  await check(page, "orders-unreported", { bothSizes: true });
  await page.goto("/cash-on-delivery");
  await row(page, "Orders with cash", "unreported-1").getByText("Delivered, cash not reported").waitFor();
  await page.getByRole("region", { name: "Totals" }).getByText("Delivered, cash not reported").waitFor();
  await check(page, "cash-unreported", { bothSizes: true });
});

test("a new order is announced, once, also if its event is missed", async () => {
  const { page, context } = await visit();
  await context.addCookies(await visitor.context.cookies());
  await page.addInitScript(missOrderEvents);
  await page.goto("/orders");
  await page.getByRole("status").getByText("Updating", { exact: true }).waitFor();
  await row(page, "Test orders", "book-3").waitFor();
  const order = await placeOrder(key, "book-missed");
  const announcement = page.getByRole("status").filter({ hasText: /New order/ });
  expect(await announcement.count()).toBe(0);
  await reload(page);
  await announcement.filter({ hasText: "New order book-missed" }).waitFor({ state: "attached" });

  // It is not new when it comes into another filter.
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Driver assigned" });
  await page.getByText("No order has this status").waitFor();
  await ask(visitor, "POST", `/orders/${order.id}/simulate`, { event: "driver.assigned" }, 200);
  await reload(page);
  await row(page, "Test orders", "book-missed").waitFor();
  expect(await announcement.count()).toBe(0);
});

/** Runs in the page: the stream is open, and its events are lost. */
function missOrderEvents(): void {
  window.EventSource = class extends EventSource {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("order", (event) => event.stopImmediatePropagation());
      window.addEventListener("missed", () => this.dispatchEvent(new Event("reload")));
    }
  };
}

/** Tells the page that events may have been missed. */
function reload(page: Page): Promise<unknown> {
  return page.evaluate(() => window.dispatchEvent(new Event("missed")));
}

test("a search that is cleared while the user types stays cleared, and a trailing space stays", async () => {
  const { page } = visitor;
  await placeOrder(key, "typed-1");
  await page.goto("/orders");
  await row(page, "Test orders", "typed-1").waitFor();
  const search = page.getByLabel("Find an order");
  await search.fill("typed-1 ");
  await page.waitForURL((url) => url.searchParams.get("search") === "typed-1");
  expect(await search.inputValue()).toBe("typed-1 ");
  await search.fill("typed-2");
  await page.getByRole("button", { name: "Clear search" }).click();
  // The order arrives after the search would apply, and only an unfiltered list shows it.
  await placeOrder(key, "typed-3");
  await row(page, "Test orders", "typed-3").waitFor();
  expect(new URL(page.url()).searchParams.get("search")).toBeNull();
});

test("a cached timeline names its missing data too", async () => {
  const looker = await visit();
  const { page } = looker;
  await newBusiness(looker, "Half a story");
  const order = await placeOrder(await newTestKey(looker), "half-1");
  let isStill = false;
  await page.route(/\/v1\/portal\/orders\/[^/]+\/events/, async (route) => {
    if (isStill) return;
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), incomplete: ["wallet"] } });
  });
  await page.goto(`/orders/${order.id}`);
  const missing = page.getByText("Temporarily unavailable: payments.");
  await missing.waitFor();
  isStill = true;
  await page.getByRole("link", { name: "Orders", exact: true }).first().click();
  await heading(page, "Orders");
  await row(page, "Test orders", "half-1").getByRole("link").first().click();
  await heading(page, "half-1");
  await missing.waitFor();
});

test("each webhook of the timeline names its endpoint, and webhooks behind a failing one wait", async () => {
  const listener = await visit();
  const { page } = listener;
  await newBusiness(listener, "Two ears");
  const [good, bad] = [await Receiver.start(), await Receiver.start()];
  const made = await ask(listener, "POST", "/webhook-endpoints", { url: good.url }, 201);
  good.secret = String(made.secret);
  await ask(listener, "POST", "/webhook-endpoints", { url: bad.url }, 201);
  const order = await placeOrder(await newTestKey(listener), "two-ears-1");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Driver assigned" }).click();
  const webhooks = page.getByRole("listitem").filter({ hasText: "Webhook" });
  const to = ({ url }: Receiver) => webhooks.filter({ hasText: `To ${url.replace("http://", "")}` });
  await to(good).filter({ hasText: "driver.assigned" }).getByText("Received (HTTP 200)").waitFor();
  await to(bad)
    .filter({ hasText: "order.created" })
    .getByText(/; next attempt (in|due now)/)
    .waitFor();
  await to(bad).filter({ hasText: "driver.assigned" }).getByText("Waiting for an earlier event").waitFor();
  await screenshot(page, "order-two-endpoints");
  await Promise.all([good.stop(), bad.stop()]);
});

test("a cash order is simulated to its end, including its cash, while its page is open", async () => {
  const { page } = visitor;
  const order = await placeOrder(key, "book-cod", COD);
  for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery"])
    await ask(visitor, "POST", `/orders/${order.id}/simulate`, { event }, 200);
  await page.goto(`/orders/${order.id}`);
  await heading(page, "book-cod");
  const money = page.getByRole("region", { name: "Money" });
  expect(await fact(money, "Cash to collect").textContent()).toBe("₹1,549.00");
  expect(await fact(money, "Charged to wallet").textContent()).toBe("None (test order)");
  await page.getByRole("button", { name: "Run to the end" }).click();
  await page.getByText("Simulating about one step per second.").waitFor();
  await page.getByRole("status", { name: "Status" }).getByText("Delivered").waitFor();
  await fact(money, "Cash status").getByText("Cash settled").waitFor();
  await fact(money, "Settled").getByText("₹1,549.00").waitFor();
  await page.getByText("This order has ended.").waitFor();
  await screenshot(page, "order-cod");
});

test("an order that failed after its pickup can only be returned", async () => {
  const { page } = visitor;
  const order = await placeOrder(key, "book-failed");
  await page.goto(`/orders/${order.id}`);
  const simulate = page.getByRole("region", { name: "Simulate" });
  const steps = ["Driver assigned", "Picked up", "Delivery failed", "Returned to pickup"];
  for (const step of steps) await simulate.getByRole("button", { name: step, exact: true }).click();
  await page.getByRole("status", { name: "Status" }).getByText("Returned").waitFor();
  await simulate.getByText("This order has ended.").waitFor();
  expect(await page.getByRole("button", { name: "Cancel order" }).count()).toBe(0);
});

test("an order is cancelled with a reason, after confirmation", async () => {
  const { page } = visitor;
  const order = await placeOrder(key, "book-cancelled");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Cancel order" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this order?" });
  await question.getByRole("button", { name: "Keep order" }).click();
  await question.waitFor({ state: "hidden" });
  await page.getByRole("status", { name: "Status" }).getByText("Created").waitFor();

  await page.getByRole("button", { name: "Cancel order" }).click();
  await question.getByLabel("Reason").fill("out of stock");
  await question.getByRole("button", { name: "Cancel order" }).click();
  await page.getByRole("status", { name: "Status" }).getByText("Cancelled").waitFor();
  const timeline = page.getByRole("list", { name: "Timeline" }).getByRole("listitem");
  await timeline.filter({ hasText: "Order cancelled" }).getByText("Out of stock").waitFor();
});

test("a cancelled live order is refunded", async () => {
  const live = await visit();
  const { page } = live;
  const liveKey = await openLive(live, await newBusiness(live, "Refunded"));
  const order = await placeOrder(liveKey, "refunded-1");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Cancel order" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this order?" });
  await question.getByText("the delivery fee is refunded to your wallet").waitFor();
  await question.getByRole("button", { name: "Cancel order" }).click();
  const refund = page
    .getByRole("list", { name: "Timeline" })
    .getByRole("listitem")
    .filter({ hasText: "Delivery fee refunded" });
  await refund.getByText("+₹49.00", { exact: true }).waitFor();
  await refund.getByText("₹500.00").waitFor();
  expect(await page.getByRole("region", { name: "Simulate" }).count()).toBe(0);
});

test("an order of another business is not found", async () => {
  const other = await visit();
  await newBusiness(other, "Curious");
  const order = await placeOrder(key, "book-private");
  await other.page.goto(`/orders/${order.id}`);
  await other.page.getByText("This order could not be loaded").waitFor();
  expect(await other.page.content()).not.toContain("book-private");
});

test("a long list loads more rows, and keeps its rows when that fails", async () => {
  const shop = await visit();
  const { page } = shop;
  await newBusiness(shop, "Many orders");
  const shopKey = await newTestKey(shop);
  for (let number = 1; number <= 26; number += 1) await placeOrder(shopKey, `many-${number}`);
  await page.goto("/orders?mode=test");
  await rowsOf(page, "Test orders", 25);
  await page.route(/startingAfter=/, (route) => route.abort());
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("alert").getByText("The service did not respond.").waitFor();
  await rowsOf(page, "Test orders", 25);
  await page.unroute(/startingAfter=/);
  await page.getByRole("button", { name: "Show more" }).click();
  await rowsOf(page, "Test orders", 26);
  expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
});
