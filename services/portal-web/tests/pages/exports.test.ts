// A list is exported with its filters: the file is saved by itself, and stays under Exports for a day.
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Page } from "@playwright/test";
import { placeOrder } from "../support/api";
import { joinTeam, logInAsOperator, newBusiness, newTeam, newTestKey } from "../support/business";
import { check } from "../support/page-checks";
import { heading, openBusiness, row, rowsOf } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

const COD = { payment: { paymentType: "cod", deliveryFeePaise: 4_900, codAmountPaise: 125_050 } };

/** Chooses a format, and returns the file that the browser saves. */
async function exported(page: Page, format: string) {
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const [inMenu, withDays] = [
    page.getByRole("menuitem", { name: format }),
    page.getByRole("button", { name: format }),
  ];
  await inMenu.or(withDays).click();
  return saved;
}

test("the orders of a filter are saved as CSV and as a workbook", async ({ page }) => {
  await newBusiness(page, "Export Shop");
  const key = await newTestKey(page);
  await placeOrder(key, "prepaid-1");
  await placeOrder(key, "cod-1", COD);
  await page.goto("/orders?mode=test&paymentType=cod");
  await expect(row(page, "Test orders", "cod-1")).toBeVisible();
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await expect(page.getByRole("menuitem", { name: "CSV" })).toBeVisible();
  await check(page, "orders-export", { bothSizes: true });
  await page.keyboard.press("Escape");

  const csv = await exported(page, "CSV");
  expect(csv.suggestedFilename()).toMatch(/^export-shop-orders-to-\d{4}-\d\d-\d\d\.csv$/);
  const rows = (await text(await csv.createReadStream())).trim().split("\r\n");
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain("Placed (IST)");
  expect(rows[1]).toContain(",cod-1,");
  expect(rows[1]).toContain(",1250.50,");

  const workbook = await exported(page, "Excel");
  const bytes = await readFile(await workbook.path());
  expect(bytes.subarray(0, 2).toString()).toBe("PK");

  await page.goto("/exports");
  await heading(page, "Exports");
  await rowsOf(page, "Exports", 2);
  await expect(row(page, "Exports", "Test orders, Cash on delivery")).toHaveCount(2);
  await check(page, "exports-ready", { bothSizes: true });
  const again = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download Orders, CSV" }).click();
  expect((await again).suggestedFilename()).toContain(".csv");
  await page.getByRole("button", { name: "Delete Orders, CSV" }).click();
  await rowsOf(page, "Exports", 1);
});

test("a file that takes long shows its progress, and is offered when it is ready", async ({ page }) => {
  await newBusiness(page, "Slow export");
  await placeOrder(await newTestKey(page), "slow-1");
  await page.clock.install();
  await page.goto("/orders?mode=test");
  await expect(row(page, "Test orders", "slow-1")).toBeVisible();
  let state = "running";
  const path = "**/v1/portal/exports/exp_*";
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const found = await response.json();
    await route.fulfill({ response, json: { ...found, state, rows: 123_456, percent: 42 } });
  });
  // Two reads that fail in passing.
  await page.route(path, (route) => route.abort(), { times: 1 });
  await page.route(path, (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: "Excel" }).click();
  await expect(page.getByText("Preparing the file")).toBeVisible();
  await expect(page.getByText("1,23,456 rows, about 42%")).toBeVisible();
  await page.clock.fastForward(20_000);
  await expect(page.getByText("You can go on working.")).toBeVisible();
  await screenshot(page, "export-running");
  state = "done";
  await expect(page.getByText("The file is ready")).toBeVisible();
  await check(page, "export-ready", { bothSizes: true });
  await page.unroute(path);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  expect((await saved).suggestedFilename()).toContain(".xlsx");
});

test("a viewer gets masked rows, and sees the exports of nobody else", async ({ page, visit }) => {
  await newTeam(page, "Masked export");
  await placeOrder(await newTestKey(page), "masked-1");
  const viewer = await visit();
  await joinTeam(viewer, page, "viewer");
  await viewer.goto("/orders?mode=test");
  await expect(row(viewer, "Test orders", "masked-1")).toBeVisible();
  const rows = await text(await (await exported(viewer, "CSV")).createReadStream());
  expect(rows).toContain("••••••");
  await page.goto("/exports");
  await expect(row(page, "Exports", "By a colleague")).toBeVisible();
  await page.goto("/orders?mode=test");
  await exported(page, "CSV");
  await viewer.goto("/exports");
  await rowsOf(viewer, "Exports", 1);
});

test("the staff exports the orders of a business", async ({ page, visit }) => {
  const business = await newBusiness(page, `Exported ${Date.now()}`);
  await placeOrder(await newTestKey(page), "staff-1");
  const console = await visit();
  await logInAsOperator(console);
  await openBusiness(console, business);
  await console.getByRole("tab", { name: "Orders" }).click();
  await console.getByLabel("Mode").selectOption({ label: "Test orders" });
  await expect(row(console, "Orders", "staff-1")).toBeVisible();
  const file = await exported(console, "CSV");
  expect(await text(await file.createReadStream())).toContain(",staff-1,");
  await expect(console.getByText("The file is saved")).toBeVisible();
  await expect(console.getByRole("link", { name: "Exports", exact: true }).last()).toHaveAttribute(
    "href",
    "/operator/exports",
  );
  // Only of these days.
  await console.getByRole("button", { name: "Export", exact: true }).click();
  await console.getByLabel("Month", { exact: true }).selectOption({ index: 2 });
  await expect(console.getByLabel("To", { exact: true })).toHaveValue(/^\d{4}-\d{2}-(28|29|30|31)$/);
  await console.getByLabel("From", { exact: true }).fill("2020-01-02");
  await console.getByLabel("To", { exact: true }).fill("2020-01-01");
  await expect(console.getByText("From must be before To.")).toBeVisible();
  await console.getByLabel("To", { exact: true }).fill("2020-01-03");
  await check(console, "operator-export-days", { bothSizes: true });
  const saved = console.waitForEvent("download");
  await console.getByRole("button", { name: "CSV" }).click();
  const days = await saved;
  expect(days.suggestedFilename()).toMatch(/-orders-from-2020-01-02-to-2020-01-03\.csv$/);
  expect(await text(await days.createReadStream())).not.toContain("staff-1");
  await console.goto("/operator/exports");
  await expect(row(console, "Exports", business.name)).toHaveCount(2);
  await expect(row(console, "Exports", "2 Jan 2020 to 3 Jan 2020")).toHaveCount(1);
  await check(console, "operator-exports-ready", { bothSizes: true });
});
