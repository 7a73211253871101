// What a page says and does when its calls are not answered: no connection, a lost answer, a service that stands still.
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { placeOrder } from "../support/api";
import { openBrowser, screenshot, type Visitor, visit } from "../support/browser";
import { ask, newBusiness, newTestKey, PASSWORD } from "../support/business";
import { heading, logIn, row, rowsOf } from "../support/pages";

const TOP_UPS = "**/v1/portal/wallet/top-ups";
const STATUS = "**/v1/portal/status";

let browser: Browser;
let visitor: Visitor;
let page: Page;
let email: string;
beforeAll(async () => {
  browser = await openBrowser();
});
beforeEach(async () => {
  visitor = await visit(browser);
  page = visitor.page;
  email = (await newBusiness(visitor, "Bad line")).email;
});
afterEach(async () => {
  expect(visitor.faults).toEqual([]);
  await visitor.context.close();
});
afterAll(() => browser.close());

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

test("what is asked for without a connection is refused at once, and not sent later", async () => {
  await page.goto("/wallet");
  await balance("₹0.00").waitFor();
  const keys = keysSent();
  await openTopUp("500");
  await visitor.context.setOffline(true);
  await dialog().getByRole("button", { name: "Top up" }).click();
  await dialog().getByText("You are offline: nothing was sent.").waitFor();
  await page.getByRole("status", { name: "Connection" }).getByText("You are offline.").waitFor();
  await screenshot(page, "offline-top-up");
  await dialog().getByRole("button", { name: "Cancel" }).click();
  await dialog().waitFor({ state: "hidden" });
  await visitor.context.setOffline(false);
  await page.getByText("You are offline.").waitFor({ state: "hidden" });

  // A later one goes through, and is the only one.
  await openTopUp("7");
  await dialog().getByRole("button", { name: "Top up" }).click();
  await balance("₹7.00").waitFor();
  await rowsOf(page, "Statement", 1);
  expect(keys).toHaveLength(1);
});

test("a top-up whose answer is lost is told as unknown, and paid once when it is tried again", async () => {
  await page.goto("/wallet");
  const keys = keysSent();
  await page.route(TOP_UPS, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await openTopUp("500");
  await dialog().getByRole("button", { name: "Top up" }).click();
  await dialog().getByText("it is not known whether this was done").waitFor();
  await dialog().getByText("it is paid once, even if both arrive").waitFor();
  await screenshot(page, "lost-answer");
  await balance("₹500.00").waitFor();

  await page.unroute(TOP_UPS);
  await page.route(TOP_UPS, (route) => route.fulfill({ status: 503, json: { message: "Busy." } }));
  await dialog().getByRole("button", { name: "Try again" }).click();
  await dialog().getByText("The service did not get through with it, so it is not known").waitFor();
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

test("a status that does not come is named, the rest is shown, and it is asked for again", async () => {
  let isStill = true;
  await page.route(STATUS, (route) => (isStill ? undefined : route.continue()));
  await page.goto("/");
  const notice = page.getByRole("status", { name: "Connection" });
  await notice.getByText("Still waiting for: status.").waitFor({ timeout: 5_000 });
  await page.getByRole("button", { name: "Create a Test key" }).waitFor();
  await screenshot(page, "slow-status");
  isStill = false;
  // In the notice; in the place of the status once that was given up.
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Not configured").first().waitFor();
  await notice.getByText("Still waiting").waitFor({ state: "hidden" });
});

test("changes that come faster than the status answers do not keep it from being shown", async () => {
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
  // Each change has the keys read, too: the second comes while the status is still waited for.
  await expect.poll(() => keyReads, { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
  expect(held).toHaveLength(1);
  const answer = await held[0]?.fetch();
  const status = await answer?.json();
  status.indicators.subscription = { code: "requested", label: "Asked for slowly" };
  await held[0]?.fulfill({ json: status });
  await page.getByText("Asked for slowly", { exact: true }).waitFor();
  // It may have been read before the second change: it is read once more.
  await expect.poll(() => held.length, { timeout: 15_000 }).toBe(2);
  await held[1]?.continue();
  await page.getByText("Asked for slowly", { exact: true }).waitFor({ state: "hidden" });
});

test("tabs share one stream, and one takes it over when the tab that holds it is closed", async () => {
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
  await page.getByText("Updates by itself").waitFor();
  const other = await visitor.context.newPage();
  const ofOther = streams(other);
  await other.goto("/orders");
  await other.getByText("Updates by itself").waitFor();
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

test("a status without one service's part says whose is missing", async () => {
  let isSilent = true;
  await page.route(STATUS, async (route) => {
    if (!isSilent) return route.continue();
    const response = await route.fetch();
    const status = await response.json();
    status.indicators.wallet = { code: "unknown", label: "Unknown" };
    return route.fulfill({ response, json: { ...status, incomplete: ["wallet"] } });
  });
  await page.goto("/");
  await page.getByText("No answer came for: wallet.").waitFor();
  await page.getByText("Unknown", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await screenshot(page, "incomplete-status");
  // It asks again by itself.
  isSilent = false;
  await page.getByText("No answer came for").waitFor({ state: "hidden", timeout: 30_000 });
});

test("a page that was not opened before waits for the connection, and then loads by itself", async () => {
  await page.goto("/orders");
  await heading(page, "Orders");
  await visitor.context.setOffline(true);
  await page.getByRole("link", { name: "Cash on delivery" }).click();
  await heading(page, "There is no connection");
  await screenshot(page, "offline-page");
  await visitor.context.setOffline(false);
  await heading(page, "Cash on delivery");
  expect(await page.getByText("There is no connection").count()).toBe(0);
});

test("a session that is ended elsewhere leads an open page to the log-in", async () => {
  await page.goto("/orders");
  await heading(page, "Orders");
  const elsewhere = await visit(browser);
  await elsewhere.page.goto("/log-in");
  await logIn(elsewhere.page, email, PASSWORD);
  await heading(elsewhere.page, "Overview");
  await ask(elsewhere, "POST", "/sessions/revoke-others", undefined, 200);
  await heading(page, "Log in");
  expect(page.url()).toContain("next=%2Forders");
  await logIn(page, email, PASSWORD);
  await heading(page, "Orders");
  await elsewhere.context.close();
});
