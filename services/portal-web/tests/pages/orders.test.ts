import type { Page } from "@playwright/test";
import { placeOrder, report } from "../support/api";
import { ask, newBusiness, newTestKey, openLive, type Session } from "../support/business";
import { check } from "../support/page-checks";
import { fact, heading, row, rowsOf, tallestRow } from "../support/pages";
import { Receiver } from "../support/receiver";
import { expect, PHONE, test } from "../support/test";

let session: Session;
let key: string;
test.beforeAll(async ({ request }) => {
  await newBusiness({ request }, "Order book");
  key = await newTestKey({ request });
  session = await request.storageState();
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

test("an order is found by its reference, its tracking code and its id, and by its status", async ({
  visit,
}) => {
  const page = await visit({ storageState: session });
  const [wanted] = [await placeOrder(key, "book-1"), await placeOrder(key, "book-2")];
  await page.goto("/orders");
  await expect(row(page, "Test orders", "book-2")).toBeVisible();
  const search = page.getByLabel("Find an order");
  for (const name of ["book-1", wanted.trackingCode, ` ${wanted.id} `]) {
    await search.fill(name);
    await search.press("Enter");
    await expect(row(page, "Test orders", "book-2")).toHaveCount(0);
    await expect(row(page, "Test orders", "book-1")).toBeVisible();
    await page.getByRole("button", { name: "Clear search" }).click();
    await expect(row(page, "Test orders", "book-2")).toBeVisible();
  }
  await search.fill("book ravi");
  await expect(page.getByText("No matching order")).toBeVisible();
  await page.getByRole("button", { name: "Show all orders" }).click();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Delivered" });
  await expect(page.getByText("No matching order")).toBeVisible();
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Created" });
  await expect(row(page, "Test orders", "book-1")).toBeVisible();
  // None of these orders is new.
  expect(await page.getByText(/^New order/).count()).toBe(0);
  await expect(page.getByRole("button", { name: "Clear search" })).toBeHidden();
  await placeOrder(key, "book-3");
  await expect(page.getByRole("status").filter({ hasText: "New order book-3" })).toBeAttached();
});

test("an open search is not repeated at each new order", async ({ visit }) => {
  const [live, searching] = [await visit({ storageState: session }), await visit({ storageState: session })];
  await placeOrder(key, "calm-1");
  let searches = 0;
  searching.on("request", (request) => {
    if (request.url().includes("/v1/portal/orders?")) searches += 1;
  });
  await searching.goto("/orders?mode=test&search=calm-1");
  await expect(row(searching, "Test orders", "calm-1")).toBeVisible();
  await live.goto("/orders?mode=test");
  await expect(live.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  const before = searches;
  for (const reference of ["calm-2", "calm-3"]) {
    await placeOrder(key, reference);
    await expect(row(live, "Test orders", reference)).toBeVisible();
  }
  expect(searches).toBe(before);
  // The user repeats it.
  await searching.getByLabel("Find an order").press("Enter");
  await expect.poll(() => searches).toBe(before + 1);
});

test("an order is found in any spelling, and the other mode's hit is offered", async ({ page }) => {
  const liveKey = await openLive(page, await newBusiness(page, "Speller"));
  const testKey = await newTestKey(page);
  await placeOrder(liveKey, "WEB-1001");
  await placeOrder(testKey, "#2002");
  await page.goto("/orders?mode=live");
  await expect(row(page, "Live orders", "WEB-1001")).toBeVisible();
  const search = page.getByLabel("Find an order");
  // The index of the search follows the orders.
  for (const text of ["web-1001", "2002"]) {
    const found = async () => (await ask(page, "GET", `/orders?search=${text}`, undefined, 200)).data;
    await expect.poll(found).toHaveLength(1);
  }
  for (const typed of ["web-1001", "#web-1001", "Web-1001"]) {
    await search.fill(typed);
    await page.waitForURL((url) => url.searchParams.get("search") === typed);
    await expect(row(page, "Live orders", "WEB-1001")).toBeVisible();
    await expect(search).toHaveValue(typed);
  }
  await search.fill("2002");
  await expect(page.getByText("No live order matches, but a test order does")).toBeVisible();
  await check(page, "orders-other-mode", { bothSizes: true });
  await page.getByRole("button", { name: "Show in test orders" }).click();
  await expect(row(page, "Test orders", "#2002")).toBeVisible();
  await search.fill("nowhere");
  await expect(page.getByText("No matching order")).toBeVisible();
});

test("a live business sees its live orders first, and then what it chose last", async ({ page }) => {
  const live = await newBusiness(page, "Two modes");
  await placeOrder(await openLive(page, live), "two-modes-live");
  await page.goto("/orders");
  await expect(row(page, "Live orders", "two-modes-live")).toBeVisible();
  await page.getByRole("tab", { name: "Test orders" }).click();
  await expect(row(page, "Test orders", `first-of-${live.id}`)).toBeVisible();
  await page.goto("/orders");
  await expect(row(page, "Test orders", `first-of-${live.id}`)).toBeVisible();
  // Another business in the same browser has its own choice.
  const other = await newBusiness(page, "Other modes");
  await openLive(page, other);
  await page.goto("/orders");
  await expect(page.getByText("No live orders yet")).toBeVisible();
});

test("a delivered order says that its cash is not reported", async ({ page }) => {
  const liveKey = await openLive(page, await newBusiness(page, "Unreported"));
  const order = await placeOrder(liveKey, "unreported-1", COD);
  await page.goto("/orders?mode=live");
  await expect(row(page, "Live orders", "unreported-1").getByText("Cash to collect")).toBeVisible();
  for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"])
    await report(order.id, event);
  await expect(row(page, "Live orders", "unreported-1").getByText("Cash not reported")).toBeVisible();
  await check(page, "orders-unreported", { bothSizes: true });
  await page.goto("/cash-on-delivery");
  await expect(
    row(page, "Orders with cash", "unreported-1").getByText("Delivered, cash not reported"),
  ).toBeVisible();
  await expect(
    page.getByRole("region", { name: "Totals" }).getByText("Delivered, cash not reported"),
  ).toBeVisible();
  await check(page, "cash-unreported", { bothSizes: true });
  const cash = row(page, "Orders with cash", "unreported-1");
  await expect(cash.getByRole("cell", { name: /^Promised by ./ })).toBeVisible();
  for (const event of ["cod.collected", "cod.handed_over"])
    await report(order.id, event, { codAmountPaise: 150_000 });
  await page.goto(`/orders/${order.id}`);
  const alert = page.getByRole("region", { name: "Money" }).getByRole("alert");
  await expect(alert).toHaveText("The driver reported ₹1,500.00 instead of ₹1,549.00.");
  const outcome = page.getByRole("region", { name: "Outcome" });
  await expect(outcome).toContainText(", ₹49.00 less than expected");
  await report(order.id, "cod.settled", { codAmountPaise: COD.payment.codAmountPaise });
  await expect(alert).toContainText("Your delivery company settled ₹1,549.00, the whole amount.");
  await expect(outcome).not.toContainText("than expected");
  await page.goto("/cash-on-delivery");
  await expect(async () => {
    await page.reload();
    const text = cash.getByText("Settled in full, after a step with another amount");
    await expect(text).toBeVisible({ timeout: 3_000 });
  }).toPass();
});

test("a new order is announced, once, also if its event is missed", async ({ visit }) => {
  const page = await visit({ storageState: session });
  await page.addInitScript(missOrderEvents);
  await page.goto("/orders");
  await expect(page.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  await expect(row(page, "Test orders", "book-3")).toBeVisible();
  const order = await placeOrder(key, "book-missed");
  const announcement = page.getByRole("status").filter({ hasText: /New order/ });
  expect(await announcement.count()).toBe(0);
  await reload(page);
  await expect(announcement.filter({ hasText: "New order book-missed" })).toBeAttached();

  // It is not new when it comes into another filter.
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Driver assigned" });
  await expect(page.getByText("No matching order")).toBeVisible();
  await ask(page, "POST", `/orders/${order.id}/simulate`, { event: "driver.assigned" }, 200);
  await reload(page);
  await expect(row(page, "Test orders", "book-missed")).toBeVisible();
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

test("a search that is cleared while the user types stays cleared, and a trailing space stays", async ({
  visit,
}) => {
  const page = await visit({ storageState: session });
  await placeOrder(key, "typed-1");
  await page.goto("/orders");
  await expect(row(page, "Test orders", "typed-1")).toBeVisible();
  const search = page.getByLabel("Find an order");
  await search.fill("typed-1 ");
  await page.waitForURL((url) => url.searchParams.get("search") === "typed-1");
  await expect(search).toHaveValue("typed-1 ");
  await search.fill("typed-2");
  await page.getByRole("button", { name: "Clear search" }).click();
  // The order arrives after the search would apply, and only an unfiltered list shows it.
  await placeOrder(key, "typed-3");
  await expect(row(page, "Test orders", "typed-3")).toBeVisible();
  expect(new URL(page.url()).searchParams.get("search")).toBeNull();
});

test("a cached timeline names its missing data too", async ({ page }) => {
  const shop = await newBusiness(page, "Half a story");
  const order = await placeOrder(await openLive(page, shop), "half-1");
  let isStill = false;
  await page.route(/\/v1\/portal\/orders\/[^/]+\/events/, async (route) => {
    if (isStill) return;
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), incomplete: ["wallet"] } });
  });
  await page.goto(`/orders/${order.id}?tab=developers`);
  const missing = page.getByText("Temporarily unavailable: payments.");
  await expect(missing).toBeVisible();
  isStill = true;
  await page.getByRole("link", { name: "Orders", exact: true }).first().click();
  await heading(page, "Orders");
  await row(page, "Live orders", "half-1").getByRole("link").first().click();
  await heading(page, "half-1");
  await page.getByRole("tab", { name: "Developers" }).click();
  await expect(missing).toBeVisible();
});

test("each webhook of the timeline names its endpoint, and webhooks behind a failing one wait", async ({
  page,
}) => {
  await newBusiness(page, "Two ears");
  const [good, bad] = [await Receiver.start(), await Receiver.start()];
  const made = await ask(page, "POST", "/webhook-endpoints", { url: good.url }, 201);
  good.secret = String(made.secret);
  await ask(page, "POST", "/webhook-endpoints", { url: bad.url }, 201);
  const order = await placeOrder(await newTestKey(page), "two-ears-1");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Driver assigned" }).click();
  await page.getByRole("tab", { name: "Developers" }).click();
  const webhooks = page.getByRole("list", { name: "Webhooks" }).getByRole("listitem");
  const to = ({ url }: Receiver) => webhooks.filter({ hasText: `To ${url.replace("http://", "")}` });
  await expect(
    to(good).filter({ hasText: "driver.assigned" }).getByText("Received (HTTP 200)"),
  ).toBeVisible();
  await expect(
    to(bad)
      .filter({ hasText: "order.created" })
      .getByText(/; next attempt (in|due now)/),
  ).toBeVisible();
  await expect(
    to(bad).filter({ hasText: "driver.assigned" }).getByText("Waiting for an earlier event"),
  ).toBeVisible();
  // The tab is in the address.
  await page.reload();
  await expect(webhooks.filter({ hasText: /^Driver assigned$/ })).toBeVisible();
  await check(page, "order-developers", { bothSizes: true });
  await Promise.all([good.stop(), bad.stop()]);
});

test("a cash order is simulated to its end, including its cash, while its page is open", async ({
  visit,
}) => {
  const page = await visit({ storageState: session });
  const order = await placeOrder(key, "book-cod", COD);
  for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery"])
    await ask(page, "POST", `/orders/${order.id}/simulate`, { event }, 200);
  await page.goto(`/orders/${order.id}`);
  await heading(page, "book-cod");
  const money = page.getByRole("region", { name: "Money" });
  await expect(fact(money, "Cash to collect")).toHaveText("₹1,549.00");
  await expect(fact(money, "Delivery fee")).toHaveText("Free (test order). Live: ₹49.00");
  await expect(fact(money, "Charged to wallet")).toHaveText("None (test order)");
  await page.getByRole("button", { name: "Run to the end" }).click();
  await expect(page.getByText("Simulating about one step per second.")).toBeVisible();
  await expect(page.getByRole("status", { name: "Status" }).getByText("Delivered")).toBeVisible();
  await expect(fact(money, "Cash status").getByText("Cash settled")).toBeVisible();
  await expect(fact(money, "Settled").getByText("₹1,549.00")).toBeVisible();
  await expect(page.getByText("This order has ended.")).toBeVisible();
  const outcome = page.getByRole("region", { name: "Outcome" });
  await expect(outcome.getByRole("heading", { name: /^Delivered on \d/ })).toBeVisible();
  await expect(outcome.getByText("Cash on delivery ₹1,549.00: cash settled")).toBeVisible();
  // The outcome comes first, then the delivery; webhooks and the request are behind the second tab.
  const parts = page.getByRole("region", { name: /^(Outcome|Timeline)$/ });
  await expect(parts.first()).toHaveAccessibleName("Outcome");
  await expect(parts.last()).toHaveAccessibleName("Timeline");
  await expect(page.getByRole("tab")).toHaveText(["Delivery", "Developers"]);
  await expect(page.getByRole("tab", { name: "Delivery" })).toHaveAttribute("aria-selected", "true");
  for (const name of ["Webhooks", "Accepted request"])
    await expect(page.getByRole("region", { name })).toHaveCount(0);
  await check(page, "order-cod", { bothSizes: true });
});

test("an order that failed after its pickup can only be returned", async ({ visit }) => {
  const page = await visit({ storageState: session });
  const order = await placeOrder(key, "book-failed");
  await page.goto(`/orders/${order.id}`);
  const simulate = page.getByRole("region", { name: "Simulate" });
  const steps = ["Driver assigned", "Picked up", "Delivery failed", "Returned to pickup"];
  const outcome = page.getByRole("region", { name: "Outcome" }).getByRole("heading");
  for (const step of steps) {
    await simulate.getByRole("button", { name: step, exact: true }).click();
    if (step === "Picked up") await expect(outcome).toHaveText(/^Picked up on \d/);
    if (step === "Delivery failed") await expect(outcome).toHaveText(/^Delivery failed on \d.*: Simulated$/);
  }
  await expect(outcome).toHaveText(/^Returned to the pickup on \d/);
  await expect(page.getByRole("status", { name: "Status" }).getByText("Returned")).toBeVisible();
  await expect(simulate.getByText("This order has ended.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel order" })).toHaveCount(0);
});

test("an order is cancelled with a reason, after confirmation", async ({ visit }) => {
  const page = await visit({ storageState: session });
  const order = await placeOrder(key, "book-cancelled");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Cancel order" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this order?" });
  await question.getByRole("button", { name: "Keep order" }).click();
  await expect(question).toBeHidden();
  await expect(page.getByRole("status", { name: "Status" }).getByText("Created")).toBeVisible();

  await page.getByRole("button", { name: "Cancel order" }).click();
  await question.getByLabel("Reason").fill("out of stock");
  await question.getByRole("button", { name: "Cancel order" }).click();
  await expect(page.getByRole("status", { name: "Status" }).getByText("Cancelled")).toBeVisible();
  const timeline = page.getByRole("list", { name: "Timeline" }).getByRole("listitem");
  const cancelled = timeline.filter({ hasText: "Order cancelled" });
  await expect(cancelled.getByText("Out of stock · by a person in the portal")).toBeVisible();
  const outcome = page.getByRole("region", { name: "Outcome" }).getByRole("heading");
  await expect(outcome).toHaveText(/^Cancelled on \d.*: Out of stock$/);
});

test("a cancelled live order is refunded", async ({ page }) => {
  const liveKey = await openLive(page, await newBusiness(page, "Refunded"));
  const order = await placeOrder(liveKey, "refunded-1");
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Cancel order" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this order?" });
  await expect(question.getByText("the delivery fee is refunded to your wallet")).toBeVisible();
  await question.getByRole("button", { name: "Cancel order" }).click();
  const outcome = page.getByRole("region", { name: "Outcome" });
  await expect(outcome.getByText("The delivery fee is refunded to your wallet.")).toBeVisible();
  await expect(outcome.getByText("Delivery fee ₹49.00, refunded")).toBeVisible();
  await check(page, "order-cancelled", { bothSizes: true });
  await expect(page.getByRole("region", { name: "Simulate" })).toHaveCount(0);
  await page.getByRole("tab", { name: "Developers" }).click();
  const refund = page
    .getByRole("list", { name: "Wallet postings" })
    .getByRole("listitem")
    .filter({ hasText: "Delivery fee refunded" });
  await expect(refund.getByText("+₹49.00", { exact: true })).toBeVisible();
  await expect(refund.getByText("₹500.00")).toBeVisible();
  await page.getByRole("link", { name: "Orders", exact: true }).first().click();
  await expect(row(page, "Live orders", "refunded-1").getByText("Refunded", { exact: true })).toBeVisible();
});

test("an order of another business is not found", async ({ page }) => {
  await newBusiness(page, "Curious");
  const order = await placeOrder(key, "book-private");
  await page.goto(`/orders/${order.id}`);
  await expect(page.getByText("This order could not be loaded")).toBeVisible();
  expect(await page.content()).not.toContain("book-private");
});

test("a long list loads more rows, and keeps its rows when that fails", async ({ page }) => {
  await newBusiness(page, "Many orders");
  const shopKey = await newTestKey(page);
  for (let number = 1; number <= 26; number += 1) await placeOrder(shopKey, `many-${number}`);
  await page.goto("/orders?mode=test");
  await rowsOf(page, "Test orders", 25);
  await page.route(/startingAfter=/, (route) => route.abort());
  await page.getByRole("button", { name: "Show more" }).click();
  await expect(page.getByRole("alert").getByText("The service did not respond.")).toBeVisible();
  await rowsOf(page, "Test orders", 25);
  await page.unroute(/startingAfter=/);
  await page.getByRole("button", { name: "Show more" }).click();
  await rowsOf(page, "Test orders", 26);
  await expect(page.getByRole("button", { name: "Show more" })).toHaveCount(0);
});

test("on a phone, a row of the list is at most 80 pixels high", async ({ visit }) => {
  const page = await visit({ storageState: session, viewport: PHONE });
  const long = "a-reference-that-is-as-long-as-shops-make-them-2026-11-21-000001";
  const customer = { name: "Venkatanarasimharajuvaripeta Subramaniam Raghunathan", phone: "+919800000001" };
  await placeOrder(key, long, { ...COD, customer });
  await placeOrder(key, "short-1");
  await page.goto("/orders?mode=test");
  const rows = page.getByRole("list", { name: "Test orders" }).getByRole("listitem");
  await expect(rows.filter({ hasText: long })).toBeVisible();
  for (const shown of ["Venkatanarasimharajuvaripeta", "COD ₹1,549.00", "Cash to collect", "Created"])
    await expect(rows.filter({ hasText: long }).getByText(shown)).toBeVisible();
  expect(await rows.count()).toBeGreaterThan(1);
  expect(await tallestRow(page, "Test orders")).toBeLessThanOrEqual(80);
  await check(page, "orders-phone");
  await rows.filter({ hasText: long }).getByRole("link").click();
  await heading(page, long);
});
