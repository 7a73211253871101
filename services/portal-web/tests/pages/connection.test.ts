// How pages handle missing responses: offline, a lost response, a service that hangs.

import type { Page, Route } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { placeOrder } from "../support/api";
import { screenshot, type Visitor, visit } from "../support/browser";
import { ask, logInByApi, newBusiness, newTestKey, PASSWORD } from "../support/business";
import { heading, logIn, row, rowsOf } from "../support/pages";

const TOP_UPS = "**/v1/portal/wallet/top-ups";
const STATUS = "**/v1/portal/status";

let visitor: Visitor;
let page: Page;
let email: string;
beforeEach(async () => {
  visitor = await visit();
  page = visitor.page;
  email = (await newBusiness(visitor, "Bad line")).email;
});

const dialog = () => page.getByRole("dialog", { name: "Top up the wallet" });
const balance = (words: string) =>
  page.locator("section[aria-label=Balance]").getByText(words, { exact: true });

async function openTopUp(rupees: string) {
  await page.getByRole("button", { name: "Top up" }).click();
  await dialog().getByLabel("Amount", { exact: true }).fill(rupees);
}

/** The keys of the top-ups that the page sends from now on. */
function keysSent(): string[] {
  const keys: string[] = [];
  page.on("request", (request) => {
    const isTopUp = request.method() === "POST" && request.url().endsWith("/wallet/top-ups");
    if (isTopUp) keys.push(request.headers()["idempotency-key"] ?? "none");
  });
  return keys;
}

test("an offline write fails immediately, and is not sent later", async () => {
  await page.goto("/wallet");
  await balance("₹0.00").waitFor();
  const keys = keysSent();
  await openTopUp("500");
  await visitor.context.setOffline(true);
  await dialog().getByRole("button", { name: "Top up" }).click();
  await dialog().getByText("You are offline. Nothing was sent.").waitFor();
  await page
    .getByRole("status", { name: "Connection" })
    .getByText("You are offline. The data may be outdated")
    .waitFor();
  await screenshot(page, "offline-top-up");
  await dialog().getByRole("button", { name: "Cancel" }).click();
  await dialog().waitFor({ state: "hidden" });
  await visitor.context.setOffline(false);
  await page.getByText("You are offline. The data may be outdated").waitFor({ state: "hidden" });

  // A later top-up is the only one.
  await openTopUp("7");
  await dialog().getByRole("button", { name: "Top up" }).click();
  await balance("₹7.00").waitFor();
  await rowsOf(page, "Statement", 1);
  expect(keys).toHaveLength(1);
});

test("a top-up without a response has an unknown outcome, and is paid once after a retry", async () => {
  await page.goto("/wallet");
  const keys = keysSent();
  await page.route(TOP_UPS, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await openTopUp("500");
  await dialog().getByRole("button", { name: "Top up" }).click();
  await dialog()
    .getByText("The service did not respond. The change may or may not have taken effect.")
    .waitFor();
  await dialog().getByText("you pay only once").waitFor();
  await screenshot(page, "lost-answer");
  await balance("₹500.00").waitFor();

  await page.unroute(TOP_UPS);
  await page.route(TOP_UPS, (route) => route.fulfill({ status: 503, json: { message: "Busy." } }));
  await dialog().getByRole("button", { name: "Try again" }).click();
  await dialog()
    .getByText("The service reported an error. The change may or may not have taken effect.")
    .waitFor();
  await dialog().getByLabel("Amount", { exact: true }).fill("20");
  await dialog().getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => keys.length).toBe(3);

  await page.unroute(TOP_UPS);
  await dialog().getByLabel("Amount", { exact: true }).fill("500");
  await dialog().getByRole("button", { name: "Try again" }).click();
  await dialog().waitFor({ state: "hidden" });
  await rowsOf(page, "Statement", 1);
  await balance("₹500.00").waitFor();
  const [first, again, other, once] = keys;
  expect(again).toBe(first);
  expect(once).toBe(first);
  expect(other).not.toBe(first);
});

test("a status that does not load is named, the rest of the page is shown, and it is retried", async () => {
  let isStill = true;
  await page.route(STATUS, (route) => (isStill ? undefined : route.continue()));
  await page.goto("/");
  const notice = page.getByRole("status", { name: "Connection" });
  await notice.getByText("Still loading: status.").waitFor();
  await page.getByRole("button", { name: "Create a Test key" }).waitFor();
  await screenshot(page, "slow-status");
  isStill = false;
  // In the notice; after the timeout, in place of the status.
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not configured").first().waitFor();
  await notice.getByText("Still loading").waitFor({ state: "hidden" });
});

test("a status that loads slower than changes arrive is still shown", async () => {
  await page.goto("/");
  await page.getByText("Not configured").first().waitFor();
  const held: Route[] = [];
  let keyReads = 0;
  await page.route(STATUS, (route) => {
    held.push(route);
  });
  page.on("request", (request) => {
    if (request.url().includes("/v1/portal/api-keys?")) keyReads += 1;
  });
  await ask(visitor, "PUT", "/subscription", { plan: "growth" }, 200);
  // Each change refetches the keys too. The second change arrives while the status is loading.
  await expect.poll(() => keyReads, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
  expect(held).toHaveLength(1);
  const answer = await held[0]?.fetch();
  const status = await answer?.json();
  status.indicators.subscription = { code: "requested", label: "Slow response" };
  await held[0]?.fulfill({ json: status });
  await page.getByText("Slow response", { exact: true }).waitFor();
  // The status may have been read before the second change, so it is refetched.
  await expect.poll(() => held.length, { timeout: 15_000 }).toBe(2);
  await held[1]?.continue();
  await page.getByText("Slow response", { exact: true }).waitFor({ state: "hidden" });
});

test("tabs share one stream, and another tab takes over when the tab with the stream is closed", async () => {
  const key = await newTestKey(visitor);
  const streams = (of: Page) => {
    const opened: string[] = [];
    of.on("request", (request) => {
      if (request.url().includes("/orders/stream")) opened.push(request.url());
    });
    return opened;
  };
  const ofFirst = streams(page);
  await page.goto("/orders");
  await page.getByRole("status").getByText("Updating", { exact: true }).waitFor();
  const other = await visitor.context.newPage();
  const ofOther = streams(other);
  await other.goto("/orders");
  await other.getByRole("status").getByText("Updating", { exact: true }).waitFor();
  await placeOrder(key, "seen-by-both");
  for (const tab of [page, other]) {
    await tab
      .getByRole("status")
      .filter({ hasText: "New order seen-by-both" })
      .waitFor({ state: "attached" });
  }
  expect([ofFirst.length, ofOther.length]).toEqual([1, 0]);

  await page.close();
  await expect.poll(() => ofOther.length, { timeout: 15_000 }).toBe(1);
  await placeOrder(key, "seen-by-the-other");
  await row(other, "Test orders", "seen-by-the-other").waitFor();
});

test("a status that lacks one service's data names that service", async () => {
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
  await page.getByText("No response from: wallet.").waitFor();
  await page.getByText("Unknown", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await screenshot(page, "incomplete-status");
  // The page retries automatically.
  isSilent = false;
  await page.clock.fastForward("00:10");
  await page.getByText("No response from").waitFor({ state: "hidden" });
});

test("a page that is not cached waits for the connection, and then loads automatically", async () => {
  await page.goto("/orders");
  await heading(page, "Orders");
  await visitor.context.setOffline(true);
  await page.getByRole("link", { name: "Cash on delivery" }).click();
  await heading(page, "No connection");
  await screenshot(page, "offline-page");
  await visitor.context.setOffline(false);
  await heading(page, "Cash on delivery");
  expect(await page.getByText("No connection").count()).toBe(0);
});

test("a session that ends in another browser leads an open page to the login", async () => {
  await page.goto("/orders");
  await heading(page, "Orders");
  const elsewhere = await visit();
  await logInByApi(elsewhere, email);
  await ask(elsewhere, "POST", "/sessions/revoke-others", undefined, 200);
  await heading(page, "Log in");
  expect(page.url()).toContain("next=%2Forders");
  await logIn(page, email, PASSWORD);
  await heading(page, "Orders");
});
