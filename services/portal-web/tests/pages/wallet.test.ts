import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { operator, placeOrder } from "../support/api";
import { screenshot, type Visitor, visit } from "../support/browser";
import { type Business, newBusiness, openLive } from "../support/business";
import { row, rowsOf } from "../support/pages";

let visitor: Visitor;
let page: Page;
let business: Business;
/** Two live orders, one of them cancelled, and a credit: five entries with the top-up. */
beforeAll(async () => {
  visitor = await visit();
  page = visitor.page;
  business = await newBusiness(visitor, "Moneybags");
  const key = await openLive(visitor, business, 150_050);
  await placeOrder(key, "paid-1");
  await placeOrder(key, "paid-2");
  const credit = { amountPaise: 1, reference: "bank-4711" };
  await operator("POST", `/businesses/${business.id}/wallet/credits`, credit, 201);
});

test("the statement shows each movement, and is filtered by kind, reference and day", async () => {
  await page.goto("/wallet");
  await page.getByRole("region", { name: "Balance" }).getByText("₹1,402.51").waitFor();
  await row(page, "Statement", "paid-2").getByText("−₹49.00").waitFor();
  await row(page, "Statement", "bank-4711").getByText("+₹0.01").waitFor();
  await row(page, "Statement", "Top-up").getByText("+₹1,500.50").first().waitFor();
  await rowsOf(page, "Statement", 4);
  await screenshot(page, "wallet");

  await page.getByLabel("Kind").selectOption({ label: "Credit" });
  await row(page, "Statement", "Top-up").waitFor({ state: "detached" });
  await rowsOf(page, "Statement", 1);
  await page.getByLabel("Kind").selectOption({ label: "All kinds" });
  await row(page, "Statement", "Top-up").waitFor();
  await page.getByLabel("Order reference").fill("paid-1");
  await row(page, "Statement", "bank-4711").waitFor({ state: "detached" });
  await rowsOf(page, "Statement", 1);
  await page.getByRole("button", { name: "Clear search" }).click();
  await row(page, "Statement", "bank-4711").waitFor();
  await page.getByLabel("To day").fill("2020-01-31");
  await page.getByText("No results match these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await row(page, "Statement", "bank-4711").waitFor();
  await row(page, "Statement", "paid-1").getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "paid-1" }).waitFor();
});

test("the spend is shown in total, per day in a table for screen readers, and by the arrow keys", async () => {
  await page.goto("/wallet");
  const chart = page.getByRole("figure");
  await chart.getByText("₹98.00", { exact: true }).first().waitFor();
  await chart.getByText("2 orders").waitFor();
  await rowsOf(page, "Spend per day", 30);
  await page.getByRole("radiogroup", { name: "Period" }).getByText("7 days").click();
  await rowsOf(page, "Spend per day", 7);
  const day = page.getByRole("slider", { name: "Day" });
  await day.press("Home");
  expect(await day.getAttribute("aria-valuetext")).toMatch(/: ₹0\.00, 0 orders$/);
});

test("the CSV download has the rows of the filtered statement", async () => {
  await page.goto("/wallet?kind=delivery_fee");
  await row(page, "Statement", "paid-1").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  const lines = (await text(await download.createReadStream())).trim().split(/\r?\n/);
  expect(lines).toHaveLength(3);
  for (const reference of ["paid-1", "paid-2"]) {
    const line = lines.find((one) => one.includes(reference));
    expect(line).toMatch(/-4900\b|-49\.00\b/);
  }
});

test("the warning is set, and the wallet counts as low below it", async () => {
  await page.goto("/wallet");
  const balance = page.getByRole("region", { name: "Balance" });
  await page.getByRole("button", { name: "Change warning" }).click();
  const dialog = page.getByRole("dialog", { name: "Low-balance warning" });
  await dialog.getByLabel("Warn below").fill("1,402.519");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Enter an amount in rupees").waitFor();
  await dialog.getByLabel("Warn below").fill("1,402.52");
  await dialog.getByRole("button", { name: "Save" }).click();
  await balance.getByText("Below ₹1,402.52").waitFor();
  await balance.getByText("Below your warning level.").waitFor();
  await balance.getByText("Low balance", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Change warning" }).click();
  await dialog.getByLabel("Warn below").fill("0");
  await dialog.getByRole("button", { name: "Save" }).click();
  await balance.getByText("Off", { exact: true }).waitFor();
  await balance.getByText("Funded").waitFor();
});

test("an invalid amount is rejected before anything is paid", async () => {
  await page.goto("/wallet");
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog", { name: "Top up the wallet" });
  const amount = dialog.getByLabel("Amount", { exact: true });
  const send = dialog.getByRole("button", { name: "Top up" });
  await amount.fill("-5");
  await send.click();
  await dialog.getByText("Enter an amount in rupees").waitFor();
  await amount.fill("0.99");
  await send.click();
  await dialog.getByText("Enter at least ₹1.00.").waitFor();
  await dialog.getByRole("group", { name: "Presets" }).getByText("₹2,000").click();
  await send.click();
  await page.getByRole("region", { name: "Balance" }).getByText("₹3,402.51").waitFor();
});

test("top-ups that wait for their payment are listed, and the payment is continued", async () => {
  // The sandbox pays at once.
  const id = "top_01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const amountPaise = 50_000;
  const waiting = {
    id,
    amountPaise,
    status: "pending",
    provider: "another",
    balancePaise: 0,
    createdAt: new Date(Date.now() - 2 * 3_600_000).toISOString(),
    checkout: { keyId: "key", orderId: "order_4711", amountPaise, currency: "INR" },
  };
  const calls = /\/v1\/portal\/wallet\/top-ups(\/\w+)?$/;
  await page.route(calls, (route) => {
    const isOne = route.request().url().endsWith(id);
    return route.fulfill({ json: isOne ? waiting : { data: [waiting], hasMore: false } });
  });
  await page.goto("/wallet");
  await row(page, "Pending top-ups", "₹500.00").getByText("2 hours ago").waitFor();
  await page.getByRole("button", { name: "Pay the top-up of ₹500.00" }).click();
  await page.getByText("Waiting for the payment of ₹500.00").waitFor();
  await page.getByText("order_4711").waitFor();
  await page.unroute(calls);
});

test("a payment page in its own window can send its result to the portal", async () => {
  const provider = "https://checkout.provider.example";
  await visitor.context.route(`${provider}/**`, (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<p>Waiting</p><script>
        opener?.postMessage("paid", "*");
        document.querySelector("p").textContent = opener ? "Sent" : "No opener";
      </script>`,
    }),
  );
  await page.goto("/wallet");
  const opened = visitor.context.waitForEvent("page");
  const result = page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        addEventListener("message", ({ origin, data }) => resolve(`${data} by ${origin}`), { once: true });
        open(url);
      }),
    `${provider}/pay`,
  );
  const popup = await opened;
  await popup.getByText("Sent").waitFor();
  expect(await result).toBe(`paid by ${provider}`);
  await popup.close();
});
