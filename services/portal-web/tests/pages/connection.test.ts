// How pages handle missing responses: offline, a lost response, a service that hangs.

import type { Locator, Page, Route } from "@playwright/test";
import { placeOrder } from "../support/api";
import { ask, logInByApi, newBusiness, newTestKey, PASSWORD } from "../support/business";
import { goTo, heading, logIn, row, rowsOf } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

const TOP_UPS = "**/v1/portal/wallet/top-ups";
const STATUS = "**/v1/portal/status";

let email: string;
test.beforeEach(async ({ page }) => {
  email = (await newBusiness(page, "Bad line")).email;
});

const balance = (page: Page, words: string) =>
  page.locator("section[aria-label=Balance]").getByText(words, { exact: true });

async function openTopUp(page: Page, rupees: string): Promise<Locator> {
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog", { name: "Top up the wallet" });
  await dialog.getByLabel("Amount", { exact: true }).fill(rupees);
  return dialog;
}

/** The keys of the top-ups that the page sends from now on. */
function keysSent(page: Page): string[] {
  const keys: string[] = [];
  page.on("request", (request) => {
    const isTopUp = request.method() === "POST" && request.url().endsWith("/wallet/top-ups");
    if (isTopUp) keys.push(request.headers()["idempotency-key"] ?? "none");
  });
  return keys;
}

test("an offline write fails immediately, and is not sent later", async ({ context, page }) => {
  await page.goto("/wallet");
  await expect(balance(page, "₹0.00")).toBeVisible();
  const keys = keysSent(page);
  const dialog = await openTopUp(page, "500");
  await context.setOffline(true);
  await dialog.getByRole("button", { name: "Top up" }).click();
  await expect(dialog.getByText("You are offline. Nothing was sent.")).toBeVisible();
  await expect(
    page.getByRole("status", { name: "Connection" }).getByText("You are offline. The data may be outdated"),
  ).toBeVisible();
  await screenshot(page, "offline-top-up");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await context.setOffline(false);
  await expect(page.getByText("You are offline. The data may be outdated")).toBeHidden();

  // A later top-up is the only one.
  await openTopUp(page, "7");
  await dialog.getByRole("button", { name: "Top up" }).click();
  await expect(balance(page, "₹7.00")).toBeVisible();
  await rowsOf(page, "Statement", 1);
  expect(keys).toHaveLength(1);
});

test("a top-up without a response has an unknown outcome, and is paid once after a retry", async ({
  page,
}) => {
  await page.goto("/wallet");
  const keys = keysSent(page);
  // One handler for all, because a request between two would reach the service.
  let answer: "lost" | "busy" | "real" = "lost";
  await page.route(TOP_UPS, async (route) => {
    if (answer === "real") return route.continue();
    if (answer === "busy") return route.fulfill({ status: 503, json: { message: "Busy." } });
    await route.fetch();
    await route.abort();
  });
  const dialog = await openTopUp(page, "500");
  await dialog.getByRole("button", { name: "Top up" }).click();
  await expect(
    dialog.getByText("The service did not respond. The change may or may not have taken effect."),
  ).toBeVisible();
  await expect(dialog.getByText("you pay only once")).toBeVisible();
  await screenshot(page, "lost-answer");
  await expect(balance(page, "₹500.00")).toBeVisible();

  answer = "busy";
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect(
    dialog.getByText("The service reported an error. The change may or may not have taken effect."),
  ).toBeVisible();
  await dialog.getByLabel("Amount", { exact: true }).fill("20");
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => keys.length).toBe(3);

  answer = "real";
  await dialog.getByLabel("Amount", { exact: true }).fill("500");
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect(dialog).toBeHidden();
  await rowsOf(page, "Statement", 1);
  await expect(balance(page, "₹500.00")).toBeVisible();
  const [first, again, other, once] = keys;
  expect(again).toBe(first);
  expect(once).toBe(first);
  expect(other).not.toBe(first);
});

test("a status that does not load is named, the rest of the page is shown, and it is retried", async ({
  page,
}) => {
  let isStill = true;
  await page.route(STATUS, (route) => (isStill ? undefined : route.continue()));
  await page.clock.install();
  await page.goto("/");
  const notice = page.getByRole("status", { name: "Connection" });
  await expect(page.getByRole("button", { name: "Create a Test key" })).toBeVisible();
  await page.clock.runFor("00:04");
  await expect(notice.getByText("Still loading: status.")).toBeVisible();
  await screenshot(page, "slow-status");
  isStill = false;
  // In the notice; after the timeout, in place of the status.
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Not configured").first()).toBeVisible();
  await expect(notice.getByText("Still loading")).toBeHidden();
});

test("a status that loads slower than changes arrive is still shown", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByText("Not configured").first()).toBeVisible();
  const held: Route[] = [];
  let keyReads = 0;
  await page.route(STATUS, (route) => {
    held.push(route);
  });
  page.on("request", (request) => {
    if (request.url().includes("/v1/portal/api-keys?")) keyReads += 1;
  });
  await ask(page, "PUT", "/subscription", { plan: "growth" }, 200);
  // Each change refetches the keys too. The second change arrives while the status is loading.
  await expect.poll(() => keyReads, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
  expect(held).toHaveLength(1);
  const answer = await held[0]?.fetch();
  const status = await answer?.json();
  status.indicators.subscription = { code: "requested", label: "Slow response" };
  await held[0]?.fulfill({ json: status });
  await expect(page.getByText("Slow response", { exact: true })).toBeVisible();
  // The status may have been read before the second change, so it is refetched.
  await expect.poll(() => held.length, { timeout: 15_000 }).toBe(2);
  await held[1]?.continue();
  await expect(page.getByText("Slow response", { exact: true })).toBeHidden();
});

/** The reads of the page from now on whose address contains this. */
function readsOf(page: Page, part: string): string[] {
  const reads: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "GET" && request.url().includes(`/v1/portal${part}`)) reads.push(request.url());
  });
  return reads;
}

test("a page reads its data once, although its stream opens meanwhile", async ({ page }) => {
  await page.clock.install();
  const reads = readsOf(page, "/wallet");
  await page.goto("/wallet");
  await expect(balance(page, "₹0.00")).toBeVisible();
  // Longer than the pause before a reload.
  await page.clock.runFor("00:03");
  await expect(balance(page, "₹0.00")).toBeVisible();
  expect(reads).toEqual([...new Set(reads)]);
});

test("tabs share one stream, and another tab takes over when the tab with the stream is closed", async ({
  context,
  page,
}) => {
  const key = await newTestKey(page);
  const streams = (of: Page) => {
    const opened: string[] = [];
    of.on("request", (request) => {
      if (request.url().includes("/orders/stream")) opened.push(request.url());
    });
    return opened;
  };
  const ofFirst = streams(page);
  const readsOfFirst = readsOf(page, "/orders?");
  await page.goto("/orders");
  await expect(page.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  const other = await context.newPage();
  const ofOther = streams(other);
  await other.goto("/orders");
  await expect(other.getByRole("status").getByText("Updating", { exact: true })).toBeVisible();
  expect(readsOfFirst).toHaveLength(1);
  await placeOrder(key, "seen-by-both");
  for (const tab of [page, other]) {
    await expect(tab.getByRole("status").filter({ hasText: "New order seen-by-both" })).toBeAttached();
  }
  expect([ofFirst.length, ofOther.length]).toEqual([1, 0]);

  await page.close();
  await expect.poll(() => ofOther.length, { timeout: 15_000 }).toBe(1);
  await placeOrder(key, "seen-by-the-other");
  await expect(row(other, "Test orders", "seen-by-the-other")).toBeVisible();
});

test("a status that lacks one service's data names that service", async ({ page }) => {
  let isSilent = true;
  await page.route(STATUS, async (route) => {
    if (!isSilent) return route.continue();
    const response = await route.fetch();
    const status = await response.json();
    status.indicators.wallet = { code: "unknown", label: "Unknown" };
    return route.fulfill({ response, json: { ...status, incomplete: ["wallet"] } });
  });
  await page.clock.install();
  await page.goto("/");
  await expect(page.getByText("No response from: wallet.")).toBeVisible();
  await expect(page.getByText("Unknown", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await screenshot(page, "incomplete-status");
  // The page retries automatically.
  isSilent = false;
  await page.clock.fastForward("00:10");
  await expect(page.getByText("No response from")).toBeHidden();
});

test("a page reloads itself once if its script cannot be loaded, and then says so", async ({ page }) => {
  const script = /\/assets\/cash-page-.*\.js$/;
  await page.goto("/orders");
  await page.route(script, (route) => route.abort(), { times: 1 });
  await goTo(page, "Cash on delivery");

  // Loaded pages keep their scripts.
  await page.goto("/orders");
  await page.route(script, (route) => route.abort());
  await page.getByRole("link", { name: "Cash on delivery" }).click();
  await heading(page, "This page could not be loaded");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload" }).click();
  await heading(page, "Cash on delivery");
});

test("a page that is not cached waits for the connection, and then loads automatically", async ({
  context,
  page,
}) => {
  await page.goto("/orders");
  await heading(page, "Orders");
  await context.setOffline(true);
  await page.getByRole("link", { name: "Cash on delivery" }).click();
  await heading(page, "No connection");
  await screenshot(page, "offline-page");
  await context.setOffline(false);
  await heading(page, "Cash on delivery");
  await expect(page.getByText("No connection")).toHaveCount(0);
});

test("a session that ends in another browser leads an open page to the login", async ({ page, visit }) => {
  await page.goto("/orders");
  await heading(page, "Orders");
  const elsewhere = await visit();
  await logInByApi(elsewhere, email);
  await ask(elsewhere, "POST", "/sessions/revoke-others", undefined, 200);
  await heading(page, "Log in");
  await expect(page).toHaveURL(/next=%2Forders/);
  await logIn(page, email, PASSWORD);
  await heading(page, "Orders");
});
