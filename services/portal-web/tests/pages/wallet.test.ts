import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { operator, placeOrder } from "../support/api";
import { ask, newBusiness, openLive, type Session } from "../support/business";
import { check } from "../support/page-checks";
import { row, rowsOf } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

let session: Session;
/** Two live orders and a credit: four entries with the top-up. */
test.beforeAll(async ({ request }) => {
  const business = await newBusiness({ request }, "Moneybags");
  const key = await openLive({ request }, business, 150_050);
  await placeOrder(key, "paid-1");
  await placeOrder(key, "paid-2");
  const credit = { amountPaise: 1, reference: "bank-4711" };
  await operator("POST", `/businesses/${business.id}/wallet/credits`, credit, 201);
  session = await request.storageState();
});
test.beforeEach(({ context }) => context.addCookies(session.cookies));

test("the statement shows each movement, and is filtered by kind, reference and day", async ({ page }) => {
  await page.goto("/wallet");
  await test.step("the spend: in total, per day in a table for screen readers, and by the arrow keys", async () => {
    const chart = page.getByRole("figure");
    await expect(chart.getByText("₹98.00", { exact: true }).first()).toBeVisible();
    await expect(chart.getByText("2 orders")).toBeVisible();
    await rowsOf(page, "Spend per day", 30);
    await page.getByRole("radiogroup", { name: "Period" }).getByText("7 days").click();
    await rowsOf(page, "Spend per day", 7);
    const day = page.getByRole("slider", { name: "Day" });
    await day.press("Home");
    await expect(day).toHaveAttribute("aria-valuetext", /: ₹0\.00, 0 orders$/);
  });
  await expect(page.getByRole("region", { name: "Balance" }).getByText("₹1,402.51")).toBeVisible();
  await expect(row(page, "Statement", "paid-2").getByText("−₹49.00")).toBeVisible();
  await expect(row(page, "Statement", "bank-4711").getByText("+₹0.01")).toBeVisible();
  await expect(row(page, "Statement", "Top-up").getByText("+₹1,500.50").first()).toBeVisible();
  await rowsOf(page, "Statement", 4);
  await screenshot(page, "wallet");

  await page.getByLabel("Kind").selectOption({ label: "Credit" });
  await expect(row(page, "Statement", "Top-up")).toHaveCount(0);
  await rowsOf(page, "Statement", 1);
  await page.getByLabel("Kind").selectOption({ label: "All kinds" });
  await expect(row(page, "Statement", "Top-up")).toBeVisible();
  await page.getByLabel("Order reference").fill("paid-1");
  await expect(row(page, "Statement", "bank-4711")).toHaveCount(0);
  await rowsOf(page, "Statement", 1);
  await page.getByRole("button", { name: "Clear search" }).click();
  await expect(row(page, "Statement", "bank-4711")).toBeVisible();
  // The totals of a period do not wait for its last page.
  const entries = /\/v1\/portal\/wallet\/entries\?/;
  await page.route(entries, async (route) => {
    const list = await (await route.fetch()).json();
    return route.fulfill({ json: { ...list, hasMore: true } });
  });
  await page.getByLabel("Month").selectOption({ index: 1 });
  await expect(page.getByRole("button", { name: "Show more" })).toBeVisible();
  await expect(page.getByLabel("From day")).toHaveValue(/^\d{4}-\d\d-01$/);
  await expect(page.getByText(/^Opening balance ₹0\.00, in \+₹/)).toBeVisible();
  await page.getByLabel("Kind").selectOption({ label: "Delivery fee" });
  await expect(page.getByText("Sum: −₹98.00 in 2 entries.")).toBeVisible();
  await page.getByLabel("Kind").selectOption({ label: "Credit" });
  await expect(page.getByText("Sum: +₹0.01 in 1 entry.")).toBeVisible();
  await check(page, "wallet-sum-of-kind", { bothSizes: true });
  await page.getByLabel("Kind").selectOption({ label: "All kinds" });
  await page.getByLabel("From day").fill("2020-01-01");
  await expect(page.getByText("choose a first day and at most 366 days")).toBeVisible();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByLabel("To day").fill("2020-01-31");
  await page.getByLabel("From day").fill("");
  await expect(page.getByText("No results match these filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(row(page, "Statement", "bank-4711")).toBeVisible();
  await row(page, "Statement", "paid-1").getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1, name: "paid-1" })).toBeVisible();
});

test("fees of further attempts are spending too", async ({ page }) => {
  // The operator of the local stack takes none.
  await page.route("**/v1/portal/wallet/spend?*", async (route) => {
    const spend = await (await route.fetch()).json();
    const today = { ...spend.days.at(-1), attemptFeesPaise: 3_000 };
    return route.fulfill({ json: { ...spend, days: [...spend.days.slice(0, -1), today] } });
  });
  await page.goto("/wallet");
  const chart = page.getByRole("figure");
  await expect(chart.getByText("₹128.00", { exact: true }).first()).toBeVisible();
  await expect(chart.getByText("2 orders · ₹30.00 of it for further attempts")).toBeVisible();
  const day = page.getByRole("slider", { name: "Day" });
  await day.press("End");
  await expect(day).toHaveAttribute("aria-valuetext", /: ₹128\.00, 2 orders$/);
  await check(page, "wallet-attempt-fees", { bothSizes: true });
});

test("a debt has a row of its own, and both rows name what was taken back", async ({ visit }) => {
  const page = await visit();
  const business = await newBusiness(page, "Owing");
  await placeOrder(await openLive(page, business), "spent-1");
  const { data } = await ask(page, "GET", "/wallet/entries?kind=top_up", undefined, 200);
  const [topUp] = data as { transferId: string }[];
  const debit = { amountPaise: 50_000, reference: "bank-4712", reason: "Paid by mistake." };
  const reverses = topUp?.transferId;
  await operator("POST", `/businesses/${business.id}/wallet/debits`, { ...debit, reverses }, 201);
  await page.goto("/wallet");
  const balance = page.getByRole("region", { name: "Balance" });
  await expect(balance.getByText("Money owed", { exact: true })).toBeVisible();
  await expect(balance.getByText("You owe ₹49.00. Top-ups, credits and refunds pay it first.")).toBeVisible();
  for (const [kind, amount] of [
    ["Debt: debit by the delivery company", "₹49.00 owed"],
    ["Debit", "−₹451.00"],
  ] as const) {
    const entry = row(page, "Statement", kind).filter({ hasText: amount });
    for (const words of ["bank-4712", "Takes back: Top-up", "Reason: Paid by mistake."]) {
      await expect(entry.getByText(words)).toBeVisible();
    }
  }
  await expect(row(page, "Statement", "Taken back in full").getByText("+₹500.00")).toBeVisible();
  await check(page, "wallet-owed", { bothSizes: true });
  await page.goto("/quick-start");
  await expect(page.getByRole("region", { name: "Status indicators" }).getByText("Money owed")).toBeVisible();
});

test("the Excel download is a workbook of the filtered statement", async ({ page }) => {
  await page.goto("/wallet?kind=delivery_fee");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download Excel" }).click(),
  ]);
  expect(download.url()).toContain("kind=delivery_fee");
  expect(download.suggestedFilename()).toMatch(/^moneybags-statement-to-20\d\d-\d\d-\d\d\.xlsx$/);
  const bytes = await readFile(await download.path());
  expect(bytes.subarray(0, 2).toString()).toBe("PK");
});

test("the CSV download has the rows of the filtered statement", async ({ page }) => {
  await page.goto("/wallet?kind=delivery_fee");
  await expect(row(page, "Statement", "paid-1")).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  const lines = (await text(await download.createReadStream())).trim().split(/\r?\n/);
  expect(lines).toHaveLength(3);
  expect(download.suggestedFilename()).toMatch(/^moneybags-statement-to-20\d\d-\d\d-\d\d\.csv$/);
  for (const reference of ["paid-1", "paid-2"]) {
    const line = lines.find((one) => one.includes(reference));
    expect(line).toMatch(/-4900\b|-49\.00\b/);
    expect(line).toContain(",Delivery fee,");
  }
});

test("the warning is set, and the wallet counts as low below it", async ({ page }) => {
  await page.goto("/wallet");
  const balance = page.getByRole("region", { name: "Balance" });
  await page.getByRole("button", { name: "Change warning" }).click();
  const dialog = page.getByRole("dialog", { name: "Low-balance warning" });
  await dialog.getByLabel("Warn below").fill("1,402.519");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByText("Enter an amount in rupees")).toBeVisible();
  await dialog.getByLabel("Warn below").fill("1,402.52");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(balance.getByText("Below ₹1,402.52")).toBeVisible();
  await expect(balance.getByText("Below your warning level.")).toBeVisible();
  await expect(balance.getByText("Low balance", { exact: true })).toBeVisible();

  await page.getByRole("button", { name: "Change warning" }).click();
  await dialog.getByLabel("Warn below").fill("0");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(balance.getByText("Off", { exact: true })).toBeVisible();
  await expect(balance.getByText("Funded")).toBeVisible();

  await test.step("an invalid amount is rejected before anything is paid", async () => {
    await page.getByRole("button", { name: "Top up" }).click();
    const topUp = page.getByRole("dialog", { name: "Top up the wallet" });
    const amount = topUp.getByLabel("Amount", { exact: true });
    const send = topUp.getByRole("button", { name: "Top up" });
    await amount.fill("-5");
    await send.click();
    await expect(topUp.getByText("Enter an amount in rupees")).toBeVisible();
    await amount.fill("10,50");
    await send.click();
    await expect(topUp.getByText("Paise follow a point.")).toBeVisible();
    await amount.fill("0.99");
    await send.click();
    await expect(topUp.getByText("Enter at least ₹1.00.")).toBeVisible();
    await topUp.getByRole("group", { name: "Presets" }).getByText("₹2,000").click();
    await send.click();
    await expect(balance.getByText("₹3,402.51")).toBeVisible();
  });
});

test("top-ups that wait for their payment are listed, and the payment is continued", async ({ page }) => {
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
  await expect(row(page, "Pending top-ups", "₹500.00").getByText("2 hours ago")).toBeVisible();
  await page.getByRole("button", { name: "Pay the top-up of ₹500.00" }).click();
  await expect(page.getByText("Waiting for the payment of ₹500.00")).toBeVisible();
  await expect(page.getByText("order_4711")).toBeVisible();
});

test("a payment page in its own window can send its result to the portal", async ({ context, page }) => {
  const provider = "https://checkout.provider.example";
  await context.route(`${provider}/**`, (route) =>
    route.fulfill({
      contentType: "text/html",
      body: `<p>Waiting</p><script>
        opener?.postMessage("paid", "*");
        document.querySelector("p").textContent = opener ? "Sent" : "No opener";
      </script>`,
    }),
  );
  await page.goto("/wallet");
  const opened = context.waitForEvent("page");
  const result = page.evaluate(
    (url) =>
      new Promise<string>((resolve) => {
        addEventListener("message", ({ origin, data }) => resolve(`${data} by ${origin}`), { once: true });
        open(url);
      }),
    `${provider}/pay`,
  );
  const popup = await opened;
  await expect(popup.getByText("Sent")).toBeVisible();
  expect(await result).toBe(`paid by ${provider}`);
});
