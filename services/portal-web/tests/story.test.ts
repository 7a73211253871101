// From sign-up to a delivered live order, by the pages alone. Each test continues from the previous one.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { placeOrder, report } from "./support/api";
import { screenshot, type Visitor, visit } from "./support/browser";
import {
  createKey,
  fact,
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
import { until } from "./support/until";

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
let owner: Visitor;
let page: Page;
let operator: Visitor;
let email: string;
let testKey: string;
let liveKey: string;

beforeAll(async () => {
  receiver = await Receiver.start();
  owner = await visit();
  page = owner.page;
  operator = await visit();
});
afterAll(async () => {
  await receiver.stop();
});

test("sign-up leads to an overview with nothing done", async () => {
  email = await signUp(page, "Spice Route");
  for (const [name, label] of Object.entries(INITIAL_LABELS)) await indicator(page, name, label);
  expect(await page.getByRole("region", { name: "Status indicators" }).locator("dt").allInnerTexts()).toEqual(
    Object.keys(INITIAL_LABELS),
  );
  const checklist = page.getByRole("list", { name: "Go-live checklist" }).getByRole("listitem");
  expect(await checklist.filter({ hasText: ": open" }).count()).toBe(CHECKLIST_LENGTH);
  expect(await checklist.count()).toBe(CHECKLIST_LENGTH);
  await screenshot(page, "story-overview-new");
});

test("Live keys are locked for named reasons; a Test key is shown once", async () => {
  await goTo(page, "API keys");
  const reasons = page.getByRole("note").filter({ hasText: "Locked" }).getByRole("listitem");
  await reasons.first().waitFor();
  expect(await reasons.count()).toBe(CHECKLIST_LENGTH);
  testKey = await createKey(page, "Test", "shop backend");
  expect(testKey).toMatch(/^sk_test_waybill_\w{36}$/);
  await row(page, "Test keys", `…${testKey.slice(-4)}`).waitFor();
  expect(await page.content()).not.toContain(testKey);
  await page.reload();
  await row(page, "Test keys", `…${testKey.slice(-4)}`).waitFor();
  expect(await page.content()).not.toContain(testKey);
});

test("a test order appears on an open page, and the indicators update automatically", async () => {
  const watching = await owner.context.newPage();
  await watching.goto("/");
  await indicator(watching, "Test API Status", "Active");
  await indicator(watching, "Connection Test", "No test orders yet");
  await goTo(page, "Orders");
  await page.getByRole("status").getByText("Updating", { exact: true }).waitFor();
  await page.getByText("No test orders yet").waitFor();
  await placeOrder(testKey, "spice-1");
  await row(page, "Test orders", "spice-1").waitFor();
  await page.getByRole("status").filter({ hasText: "New order spice-1" }).waitFor({ state: "attached" });
  await indicator(watching, "Connection Test", "Connected");
  await watching
    .getByRole("list", { name: "Go-live checklist" })
    .getByRole("listitem")
    .filter({ hasText: ": done" })
    .waitFor();
  await watching.close();
});

test("a webhook endpoint is created, and receives its test event", async () => {
  await goTo(page, "Webhooks");
  await page.getByRole("link", { name: "Add endpoint" }).click();
  await heading(page, "Add an endpoint");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
  await page.getByText("10 of 13 selected.").waitFor();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  receiver.secret = await takeSecret(page, "Your signing secret");
  expect(receiver.secret).toMatch(/^whsec_/);
  await heading(page, receiver.url);
  expect(await page.content()).not.toContain(receiver.secret);
  await page.getByText("Last delivery: Never").waitFor();
  await page.getByRole("button", { name: "Send test event" }).click();
  const result = page.getByRole("dialog", { name: "Test event" });
  await result.getByText("Your server returned 200").waitFor();
  await result.getByRole("button", { name: "Close" }).click();
  await page.getByText("Connection test: Passed").waitFor();
  expect(receiver.received.filter((one) => one.verified).map((one) => one.event)).toContain("webhook.test");
});

test("the test order is simulated to its delivery, and each step's webhook is verified", async () => {
  await goTo(page, "Orders");
  await page.getByRole("link", { name: "spice-1" }).click();
  await heading(page, "spice-1");
  const simulate = page.getByRole("region", { name: "Simulate" });
  for (const step of ["Driver assigned", "Picked up", "Out for delivery", "Delivered"]) {
    await simulate.getByRole("button", { name: step, exact: true }).click();
    await page.getByRole("status", { name: "Status" }).getByText(step, { exact: true }).waitFor();
  }
  await simulate.getByText("This order has ended.").waitFor();
  await arrived("spice-1", MOVES);
  const timeline = page.getByRole("list", { name: "Timeline" });
  const answered = timeline.getByRole("listitem").filter({ hasText: "Received (HTTP 200)" });
  await answered.filter({ hasText: "order.delivered" }).waitFor();
  await screenshot(page, "story-test-order");
});

test("a duplicate and a failure retry are shown as done, with their requests", async () => {
  await goTo(page, "Overview");
  const advice = page.getByRole("list", { name: "Recommended tests" }).getByRole("listitem");
  const open = advice.filter({ hasText: ": open" });
  await open.nth(1).waitFor();
  const first = await placeOrder(testKey, "spice-2");
  expect((await placeOrder(testKey, "spice-2")).id).toBe(first.id);
  await placeOrder(testKey, "spice-3", { customer: null }, 400);
  await placeOrder(testKey, "spice-3");
  await until("all tests are done", async () => (await open.count()) === 0);
  expect(await advice.count()).toBe(3);
  for (const words of ["A duplicate request", "A failed request"]) {
    const proven = advice.filter({ hasText: words });
    expect(await proven.getByText(/^req_\w{26}$/).count()).toBeGreaterThan(0);
  }
});

test("the pickup profile is completed, and a plan is requested", async () => {
  await goTo(page, "Pickup profile");
  await fillPickupProfile(page);
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Complete", { exact: true }).waitFor();

  await goTo(page, "Subscription");
  const standing = page.getByRole("status", { name: "Your subscription" });
  await standing.getByText("No plan yet").waitFor();
  await page.getByRole("button", { name: "Request this plan: Growth" }).click();
  await standing.getByText("Requested", { exact: true }).waitFor();
});

test("the operator approves the business, activates its plan and grants live access", async () => {
  await logInWithToken(operator.page);
  await operator.page.getByLabel("Find a business").fill(email);
  await rowsOf(operator.page, "Businesses", 1);
  await row(operator.page, "Businesses", "Spice Route").getByRole("link").click();
  await heading(operator.page, "Spice Route");
  await operator.page.getByRole("button", { name: "Approve" }).click();
  await operator.page.getByRole("status", { name: "Business" }).getByText("Active").waitFor();
  await operator.page.getByRole("button", { name: "Activate Growth" }).click();
  await operator.page.getByRole("status", { name: "Subscription" }).getByText("Active").waitFor();
  await operator.page.getByRole("button", { name: "Grant live access" }).click();
  const grant = operator.page.getByRole("dialog", { name: "Grant live access to Spice Route?" });
  await grant.getByRole("button", { name: "Grant live access" }).click();
  await operator.page.getByRole("status", { name: "Live access" }).getByText("Granted").waitFor();
  await operator.page.getByText("The wallet has not been funded").waitFor();
  await page.getByText("Your plan is active.").waitFor();
});

test("the wallet is topped up, which unlocks live orders", async () => {
  await goTo(page, "Wallet");
  await page.getByText("The wallet has not been funded yet.").waitFor();
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog", { name: "Top up the wallet" });
  await dialog.getByLabel("Amount", { exact: true }).fill("500.50");
  await dialog.getByRole("button", { name: "Top up" }).click();
  await page.getByRole("region", { name: "Balance" }).getByText("₹500.50").waitFor();

  await goTo(page, "Overview");
  await page.getByText("Complete: live orders are unlocked.").waitFor();
  await indicator(page, "Live API Status", "Ready");
  await goTo(page, "API keys");
  liveKey = await createKey(page, "Live", "shop");
  expect(liveKey).toMatch(/^sk_live_waybill_\w{36}$/);
});

test("a live order is delivered, and its page shows the request, money, status changes and webhooks", async () => {
  await goTo(page, "Orders");
  await page.getByRole("tab", { name: "Live orders" }).click();
  await page.getByRole("status").getByText("Updating", { exact: true }).waitFor();
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
  await page.getByRole("status", { name: "Status" }).getByText("Delivered").waitFor();
  await arrived("spice-live-1", ["order.created", ...MOVES]);

  const request = page.getByRole("region", { name: "Accepted request" });
  await request.getByText("shop-spice-live-1").waitFor();
  await request.getByText(`…${liveKey.slice(-4)}`).waitFor();
  await request.getByText(/^req_\w{26}$/).waitFor();
  const money = page.getByRole("region", { name: "Money" });
  expect(await fact(money, "Charged to wallet").textContent()).toBe("₹49.00");
  await page.getByRole("region", { name: "Delivery" }).getByText("Ravi Kumar").waitFor();

  const timeline = page.getByRole("list", { name: "Timeline" }).getByRole("listitem");
  const fee = timeline.filter({ hasText: "Delivery fee charged" });
  await fee.getByText("−₹49.00").waitFor();
  await fee.getByText("₹451.50").waitFor();
  for (const move of ["Driver assigned", "Picked up", "Out for delivery", "Delivered"]) {
    await timeline.getByText(move, { exact: true }).waitFor();
  }
  for (const event of ["order.created", ...MOVES]) {
    await timeline.filter({ hasText: event }).getByText("Received (HTTP 200)").waitFor();
  }
  expect(await page.getByRole("main").textContent()).not.toContain("2020");
  await screenshot(page, "story-live-order");
});

test("the wallet is charged exactly the delivery fee", async () => {
  await goTo(page, "Wallet");
  await page.getByRole("region", { name: "Balance" }).getByText("₹451.50").waitFor();
  const fee = row(page, "Statement", "spice-live-1");
  await fee.getByText("−₹49.00").waitFor();
  await fee.getByText("₹451.50").waitFor();
  await rowsOf(page, "Statement", 2);
  await goTo(page, "Overview");
  await indicator(page, "Live API Status", "Active");
  await indicator(page, "Wallet Status", "Low balance");
  await indicator(page, "Webhook Status", "Active");
  await indicator(page, "Webhook Connection Test", "Passed");
  await indicator(page, "Subscription Status", "Active");
  await screenshot(page, "story-overview-live");
});

/** Waits until the receiver has these events of an order, with valid signatures. */
async function arrived(orderReference: string, events: string[]): Promise<void> {
  const ofOrder = () => receiver.received.filter((one) => one.orderReference === orderReference);
  await until(`${events} of ${orderReference} arrive`, async () => {
    const kinds = new Set(ofOrder().map((one) => one.event));
    return events.every((event) => kinds.has(event));
  });
  expect(ofOrder().filter((one) => !one.verified)).toEqual([]);
}
