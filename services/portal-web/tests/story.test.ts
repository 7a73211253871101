// From sign-up to a delivered live order, by the pages alone. Each test continues from the previous one.

import type { Page } from "@playwright/test";
import { placeOrder, report } from "./support/api";
import {
  createKey,
  fact,
  figure,
  fillPickupProfile,
  goTo,
  heading,
  indicator,
  logInWithToken,
  row,
  rowsOf,
  signUp,
  takeSecret,
} from "./support/pages";
import { Receiver } from "./support/receiver";
import { expect, screenshot, test } from "./support/test";

const INITIAL_LABELS = {
  "Test API Status": "Not created",
  "Live API Status": "Locked",
  "Connection Test": "No test orders yet",
  "Webhook Status": "Not configured",
  "Webhook Connection Test": "Not tested",
  "Wallet Status": "Not available",
  "Subscription Status": "Required",
};
const CHECKLIST_LENGTH = 6;
const MOVES = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"];
const DRIVER = { name: "Ravi Kumar", phone: "+919800000003", vehicle: "KA 01 AB 1234" };

let receiver: Receiver;
let page: Page;
let operator: Page;
let email: string;
let testKey: string;
let liveKey: string;

test.describe.configure({ mode: "serial" });
test.beforeAll(async ({ browser }) => {
  receiver = await Receiver.start();
  page = await (await browser.newContext()).newPage();
  operator = await (await browser.newContext()).newPage();
});
test.afterAll(async () => {
  await Promise.all([page, operator].map((one) => one.context().close()));
  await receiver.stop();
});

test("sign-up leads to an overview with nothing done", async () => {
  email = await signUp(page, "Spice Route");
  for (const [name, label] of Object.entries(INITIAL_LABELS)) await indicator(page, name, label);
  await expect(page.getByRole("region", { name: "Status indicators" }).locator("dt")).toHaveText(
    Object.keys(INITIAL_LABELS),
    { useInnerText: true },
  );
  const checklist = page.getByRole("list", { name: "Go-live checklist" }).getByRole("listitem");
  await expect(checklist.filter({ hasText: ": open" })).toHaveCount(CHECKLIST_LENGTH);
  await expect(checklist).toHaveCount(CHECKLIST_LENGTH);
  await screenshot(page, "story-overview-new");
});

test("Live keys are locked for named reasons; a Test key is shown once", async () => {
  await goTo(page, "API keys");
  const reasons = page.getByRole("note").filter({ hasText: "Locked" }).getByRole("listitem");
  await expect(reasons.first()).toBeVisible();
  await expect(reasons).toHaveCount(CHECKLIST_LENGTH);
  testKey = await createKey(page, "Test", "shop backend");
  expect(testKey).toMatch(/^sk_test_waybill_\w{36}$/);
  await expect(row(page, "Test keys", `…${testKey.slice(-4)}`)).toBeVisible();
  expect(await page.content()).not.toContain(testKey);
  await page.reload();
  await expect(row(page, "Test keys", `…${testKey.slice(-4)}`)).toBeVisible();
  expect(await page.content()).not.toContain(testKey);
});

test("a test order appears on an open page, and the indicators update automatically", async () => {
  const watching = await page.context().newPage();
  await watching.goto("/");
  await indicator(watching, "Test API Status", "Active");
  await indicator(watching, "Connection Test", "No test orders yet");
  await goTo(page, "Orders");
  await expect(page.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  await expect(page.getByText("No test orders yet")).toBeVisible();
  await placeOrder(testKey, "spice-1");
  await expect(row(page, "Test orders", "spice-1")).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "New order spice-1" })).toBeAttached();
  await indicator(watching, "Connection Test", "Connected");
  await expect(
    watching
      .getByRole("list", { name: "Go-live checklist" })
      .getByRole("listitem")
      .filter({ hasText: ": done" }),
  ).toBeVisible();
  await watching.close();
});

test("a webhook endpoint is created, and receives its test event", async () => {
  await goTo(page, "Webhooks");
  await page.getByRole("link", { name: "Add endpoint" }).click();
  await heading(page, "Add an endpoint");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
  await expect(page.getByText("10 of 13 selected.")).toBeVisible();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  receiver.secret = await takeSecret(page, "Your signing secret");
  expect(receiver.secret).toMatch(/^whsec_/);
  await heading(page, receiver.url);
  expect(await page.content()).not.toContain(receiver.secret);
  await expect(page.getByText("Last delivery: Never")).toBeVisible();
  await page.getByRole("button", { name: "Send test event" }).click();
  const result = page.getByRole("dialog", { name: "Test event" });
  await expect(result.getByText("Your server returned 200")).toBeVisible();
  await result.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("Connection test: Passed")).toBeVisible();
  expect(receiver.received.filter((one) => one.verified).map((one) => one.event)).toContain("webhook.test");
});

test("the test order is simulated to its delivery, and each step's webhook is verified", async () => {
  await goTo(page, "Orders");
  await page.getByRole("link", { name: "spice-1" }).click();
  await heading(page, "spice-1");
  const simulate = page.getByRole("region", { name: "Simulate" });
  for (const step of ["Driver assigned", "Picked up", "Out for delivery", "Delivered"]) {
    await simulate.getByRole("button", { name: step, exact: true }).click();
    await expect(page.getByRole("status", { name: "Status" }).getByText(step, { exact: true })).toBeVisible();
  }
  await expect(simulate.getByText("This order has ended.")).toBeVisible();
  await arrived("spice-1", MOVES);
  await page.getByRole("tab", { name: "Developers" }).click();
  const webhooks = page.getByRole("list", { name: "Webhooks" });
  const answered = webhooks.getByRole("listitem").filter({ hasText: "Received (HTTP 200)" });
  await expect(answered.filter({ hasText: "order.delivered" })).toBeVisible();
  await screenshot(page, "story-test-order");
});

test("a duplicate and a failure retry are shown as done, with their requests", async () => {
  await goTo(page, "Overview");
  const advice = page.getByRole("list", { name: "Recommended tests" }).getByRole("listitem");
  const open = advice.filter({ hasText: ": open" });
  await expect(open.nth(1)).toBeVisible();
  const first = await placeOrder(testKey, "spice-2");
  expect((await placeOrder(testKey, "spice-2")).id).toBe(first.id);
  await placeOrder(testKey, "spice-3", { customer: null }, 400);
  await placeOrder(testKey, "spice-3");
  await expect(open).toHaveCount(0);
  await expect(advice).toHaveCount(3);
  for (const words of ["A duplicate request", "A failed request"]) {
    const proven = advice.filter({ hasText: words });
    expect(await proven.getByText(/^req_\w{26}$/).count()).toBeGreaterThan(0);
  }
});

test("the pickup profile is completed, and a plan is requested", async () => {
  await goTo(page, "Pickup profile");
  await fillPickupProfile(page);
  await page.getByRole("button", { name: "Save profile" }).click();
  await expect(page.getByText("Complete", { exact: true })).toBeVisible();

  await goTo(page, "Subscription");
  const standing = page.getByRole("status", { name: "Your subscription" });
  await expect(standing.getByText("No plan yet")).toBeVisible();
  await page.getByRole("button", { name: "Request this plan: Growth" }).click();
  await expect(standing.getByText("Requested", { exact: true })).toBeVisible();
});

test("the operator approves the business, activates its plan and grants live access", async () => {
  await logInWithToken(operator);
  await goTo(operator, "Businesses");
  await operator.getByLabel("Find a business").fill(email);
  await rowsOf(operator, "Businesses", 1);
  await row(operator, "Businesses", "Spice Route").getByRole("link").click();
  await heading(operator, "Spice Route");
  await operator.getByRole("button", { name: "Approve" }).click();
  await expect(operator.getByRole("status", { name: "Business" }).getByText("Active")).toBeVisible();
  await operator.getByRole("button", { name: "Activate Growth" }).click();
  await expect(operator.getByRole("status", { name: "Subscription" }).getByText("Active")).toBeVisible();
  await operator.getByRole("button", { name: "Grant live access" }).click();
  const grant = operator.getByRole("dialog", { name: "Grant live access to Spice Route?" });
  await grant.getByRole("button", { name: "Grant live access" }).click();
  await expect(operator.getByRole("status", { name: "Live access" }).getByText("Granted")).toBeVisible();
  await expect(operator.getByText("The wallet has not been funded")).toBeVisible();
  await expect(page.getByText("Your plan is active.")).toBeVisible();
});

test("the wallet is topped up, which unlocks live orders", async () => {
  await goTo(page, "Wallet");
  await expect(page.getByText("The wallet has not been funded yet.")).toBeVisible();
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog", { name: "Top up the wallet" });
  await dialog.getByLabel("Amount", { exact: true }).fill("500.50");
  await dialog.getByRole("button", { name: "Top up" }).click();
  await expect(page.getByRole("region", { name: "Balance" }).getByText("₹500.50")).toBeVisible();

  await goTo(page, "Overview");
  await expect(page.getByText("Complete: live orders are unlocked.")).toBeVisible();
  await indicator(page, "Live API Status", "Ready");
  await goTo(page, "API keys");
  liveKey = await createKey(page, "Live", "shop");
  expect(liveKey).toMatch(/^sk_live_waybill_\w{36}$/);
});

test("a live order is delivered, and its page shows the request, money, status changes and webhooks", async () => {
  await goTo(page, "Orders");
  await page.getByRole("tab", { name: "Live orders" }).click();
  await expect(page.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  const order = await placeOrder(liveKey, "spice-live-1");
  await row(page, "Live orders", "spice-live-1").getByRole("link").click();
  await heading(page, "spice-live-1");
  // The fleet's clock is wrong: pages show when the service recorded each event.
  const occurredAt = "2020-01-31T09:30:00Z";
  for (const event of MOVES)
    await report(
      order.id,
      event,
      event === "driver.assigned" ? { driver: DRIVER, occurredAt } : { occurredAt },
    );
  await expect(page.getByRole("status", { name: "Status" }).getByText("Delivered")).toBeVisible();
  await arrived("spice-live-1", ["order.created", ...MOVES]);

  const outcome = page.getByRole("region", { name: "Outcome" });
  await expect(outcome.getByRole("heading", { name: /^Delivered on \d/ })).toBeVisible();
  await expect(outcome.getByText("Ravi Kumar handed it over.")).toBeVisible();
  await expect(outcome.getByText("Delivery fee ₹49.00")).toBeVisible();
  const money = page.getByRole("region", { name: "Money" });
  await expect(fact(money, "Charged to wallet")).toHaveText("₹49.00");
  await expect(page.getByRole("region", { name: "Delivery" }).getByText("Ravi Kumar")).toBeVisible();

  const timeline = page.getByRole("list", { name: "Timeline" }).getByRole("listitem");
  for (const move of ["Driver assigned", "Picked up", "Out for delivery", "Delivered"]) {
    await expect(timeline.getByText(move, { exact: true })).toBeVisible();
  }
  await expect(timeline.filter({ hasText: "Webhook" })).toHaveCount(0);
  await expect(outcome).not.toContainText("2020");
  await expect(page.getByRole("list", { name: "Timeline" })).not.toContainText("2020");
  const attempt = page.getByRole("article", { name: "Attempt 1" });
  await expect(fact(attempt, "Fleet’s clock")).toContainText("31 Jan 2020");
  await screenshot(page, "story-live-order");

  await page.getByRole("tab", { name: "Developers" }).click();
  const request = page.getByRole("region", { name: "Accepted request" });
  await expect(request.getByText("shop-spice-live-1")).toBeVisible();
  await expect(request.getByText(`…${liveKey.slice(-4)}`)).toBeVisible();
  await expect(request.getByText(/^req_\w{26}$/)).toBeVisible();
  const fee = page.getByRole("list", { name: "Wallet postings" }).getByRole("listitem");
  await expect(fee.filter({ hasText: "Delivery fee charged" }).getByText("−₹49.00")).toBeVisible();
  await expect(fee.getByText("₹451.50")).toBeVisible();
  const webhooks = page.getByRole("list", { name: "Webhooks" }).getByRole("listitem");
  for (const event of ["order.created", ...MOVES]) {
    await expect(webhooks.filter({ hasText: event }).getByText("Received (HTTP 200)")).toBeVisible();
  }
  // Random ids may contain 2020.
  expect(await page.getByRole("main").textContent()).not.toMatch(/Jan 2020|2020-01-31/);
  await screenshot(page, "story-live-order-developers");
});

test("the wallet is charged exactly the delivery fee", async () => {
  await goTo(page, "Wallet");
  await expect(page.getByRole("region", { name: "Balance" }).getByText("₹451.50")).toBeVisible();
  const fee = row(page, "Statement", "spice-live-1");
  await expect(fee.getByText("−₹49.00")).toBeVisible();
  await expect(fee.getByText("₹451.50")).toBeVisible();
  await rowsOf(page, "Statement", 2);
  await goTo(page, "Overview");
  const today = page.getByRole("region", { name: "Orders today" });
  await expect(figure(today, "Placed")).toHaveText("1");
  await expect(figure(today, "Delivered")).toHaveText("1");
  const money = page.getByRole("region", { name: "Delivery and money" });
  await expect(figure(money, "Delivery rate")).toHaveText("100 %");
  await expect(figure(money, "Balance")).toHaveText("₹451.50");
  await expect(money.getByText("Lasts about 9 days at the recent pace")).toBeVisible();
  await expect(page.getByRole("region", { name: "Status indicators" })).toHaveCount(0);
  await screenshot(page, "story-overview-live");
  await goTo(page, "Quick start");
  await indicator(page, "Live API Status", "Active");
  await indicator(page, "Wallet Status", "Low balance");
  await indicator(page, "Webhook Status", "Active");
  await indicator(page, "Webhook Connection Test", "Passed");
  await indicator(page, "Subscription Status", "Active");
  await screenshot(page, "story-quick-start-live");
});

/** Waits until the receiver has these events of an order, with valid signatures. */
async function arrived(orderReference: string, events: string[]): Promise<void> {
  const ofOrder = () => receiver.received.filter((one) => one.orderReference === orderReference);
  const kinds = () => ofOrder().map((one) => one.event);
  await expect.poll(kinds, `what arrives of ${orderReference}`).toEqual(expect.arrayContaining(events));
  expect(ofOrder().filter((one) => !one.verified)).toEqual([]);
}
