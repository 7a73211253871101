// The operator records a bank transfer by a selection or a file, and the business sees which transfer paid which order.
import { text } from "node:stream/consumers";
import type { Page } from "@playwright/test";
import { placeOrder, report } from "../support/api";
import {
  type Business,
  joinStaff,
  logInAsOperator,
  newBusiness,
  openLive,
  type Session,
} from "../support/business";
import { check } from "../support/page-checks";
import { fact, heading, row, rowsOf, tallestRow } from "../support/pages";
import { DESKTOP, expect, PHONE, test } from "../support/test";

const COD = { payment: { paymentType: "cod", deliveryFeePaise: 4_900, codAmountPaise: 125_050 } };

let owner: Session;
let business: Business;
test.beforeAll(async ({ request }) => {
  business = await newBusiness({ request }, `Paid out ${Date.now()}`);
  const liveKey = await openLive({ request }, business);
  const atTheDoor = async (reference: string) => {
    const order = await placeOrder(liveKey, reference, COD);
    for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery"])
      await report(order.id, event);
    return order;
  };
  const failed = await atTheDoor("failed-1");
  await report(failed.id, "order.failed", { reason: "nobody at home", reasonCode: "customer_unreachable" });
  for (const reference of ["paid-1", "paid-2", "paid-3"]) {
    const order = await atTheDoor(reference);
    await report(order.id, "order.delivered");
    for (const event of ["cod.collected", "cod.handed_over"])
      await report(order.id, event, { codAmountPaise: COD.payment.codAmountPaise });
  }
  owner = await request.storageState();
});

test("chosen orders and a file are settled, and the business sees the transfers", async ({ page, visit }) => {
  await logInAsOperator(page);
  await expect(async () => {
    await page.goto(`/operator/cash/${business.id}`);
    await expect(row(page, "Cash to settle", "paid-3")).toBeVisible({ timeout: 3_000 });
  }).toPass();
  await rowsOf(page, "Cash to settle", 3);
  await heading(page, `Cash of ${business.name}`);
  await check(page, "operator-business-cash", { bothSizes: true });
  await page.setViewportSize(PHONE);
  await isDense(page, "Cash to settle");
  await page.goto("/operator/cash");
  await isDense(page, "Cash owed to businesses");
  await page.goBack();
  await page.setViewportSize(DESKTOP);
  await page.getByLabel("Choose paid-1").check();
  await page.getByRole("button", { name: "Settle 1 order" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Record ₹1,250.50" }).click();
  await expect(dialog.getByText("Enter the bank’s reference.")).toBeVisible();
  await dialog.getByLabel("Bank reference").fill("UTR 1");
  await dialog.getByLabel("Day of the transfer").fill("2026-01-31");
  await check(page, "operator-remittance", { bothSizes: true });
  await dialog.getByRole("button", { name: "Record ₹1,250.50" }).click();
  await expect(page.getByText("Recorded: ₹1,250.50 for 1 order.")).toBeVisible();
  await rowsOf(page, "Cash to settle", 2);
  await expect(row(page, "Bank transfers", "UTR 1").getByText("₹1,250.50")).toBeVisible();

  // Every wrong line of a file is named, and nothing is settled.
  const upload = (csv: string) =>
    page
      .locator("input[type=file]")
      .setInputFiles({ name: "transfer.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await upload("order,amount,note\npaid-1\npaid-2,0\n");
  await expect(dialog.getByText("Line 3: The amount must be rupees above 0, such as 1250.50.")).toBeVisible();
  await page.keyboard.press("Escape");
  await upload("order,amount,note\npaid-1,0\npaid-2,0\n,1\n");
  await expect(dialog.getByRole("listitem")).toHaveCount(3);
  await expect(dialog.getByText("Line 4: The order is missing.")).toBeVisible();
  await expect(dialog.getByText("see errors")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await upload("order,amount,note\npaid-2,1200\nnever-placed\n");
  await expect(dialog.getByText("Line 2, paid-2: ₹1,250.50 was handed over.")).toBeVisible();
  await expect(dialog.getByText("Line 3, never-placed: The business has no order")).toBeVisible();
  await check(page, "operator-remittance-refused", { bothSizes: true });
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await upload("order,amount,note\npaid-2,1200,torn note\npaid-3\n");
  await expect(dialog.getByText("paid-2: ₹1,200.00 instead of ₹1,250.50 (torn note)")).toBeVisible();
  await dialog.getByLabel("Bank reference").fill("UTR 2");
  await dialog.getByLabel("Day of the transfer").fill("2026-02-01");
  await dialog.getByRole("button", { name: "Record ₹2,450.50" }).click();
  await expect(page.getByText("Nothing to settle")).toBeVisible();

  // The difference gets an owner.
  await page.goto("/operator/cash");
  const discrepancy = row(page, "Discrepancies", "paid-2");
  await expect(discrepancy.getByText("Nobody")).toBeVisible();
  await discrepancy.getByRole("button", { name: "Assign paid-2" }).click();
  await dialog.getByLabel("Owner").fill("Ravi");
  // The rows become cards only when their dialog has closed.
  await page.setViewportSize(PHONE);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("list", { name: "Discrepancies" }).getByText("Ravi")).toBeVisible();
  await isDense(page, "Discrepancies");
  await page.setViewportSize(DESKTOP);
  await expect(discrepancy.getByText("Ravi")).toBeVisible();
  // Finance staff clears it without reading orders.
  const finance = await visit();
  await joinStaff(finance, "Binu", "finance");
  await finance.goto("/operator/cash");
  await expect(row(finance, "Discrepancies", "paid-2").getByRole("button", { name: "Assign" })).toBeVisible();
  await expect(finance.getByRole("link", { name: "paid-2" })).toHaveCount(0);
  // Closed, it leaves the list and stays with the business.
  await discrepancy.getByRole("button", { name: "Assign paid-2" }).click();
  await expect(dialog.getByText("Paid out", { exact: true })).toBeVisible();
  await dialog.getByLabel("Closed, because").fill("Paid by hand");
  await check(page, "operator-discrepancy", { bothSizes: true });
  await dialog.getByRole("button", { name: "Close discrepancy" }).click();
  await expect(discrepancy).toHaveCount(0);
  await page.goto(`/operator/businesses/${business.id}?tab=cash`);
  await expect(row(page, "Orders with cash", "paid-2").getByText("Closed: Paid by hand")).toBeVisible();
  await check(page, "operator-business-cash-tab", { bothSizes: true });
  // The page of the order says so too.
  await row(page, "Orders with cash", "paid-2").getByRole("link", { name: "paid-2" }).click();
  const money = page.getByRole("region", { name: "Money" });
  await expect(money.getByText("Closed: Paid by hand")).toBeVisible();
  await check(page, "operator-order-closed-difference", { bothSizes: true });
  await page.goBack();
  await page.getByRole("button", { name: "Reopen paid-2" }).click();
  await expect(dialog.getByText("Closed: Paid by hand.")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.goto(`/operator/cash/${business.id}?late=true`);
  await expect(page.getByLabel("Only late")).toBeChecked();
  await expect(page.getByText("No cash that you hold is past its promised day.")).toBeVisible();

  const shop = await visit({ storageState: owner });
  await shop.goto("/cash-on-delivery");
  const cash = row(shop, "Orders with cash", "paid-2");
  await expect(cash.getByText("Paid on 1 Feb 2026 with")).toBeVisible();
  // What the operator closed is in the sums of the month.
  await expect(row(shop, "Cash by month", "₹50.50")).toBeVisible();
  // A short payment that the operator has closed is not open, and stays visible.
  await shop.goto("/cash-on-delivery?discrepant=true");
  await expect(shop.getByText("No results match these filters")).toBeVisible();
  await shop.getByLabel("Only open discrepancies").uncheck();
  await shop.getByLabel("Only discrepancies").check();
  await rowsOf(shop, "Orders with cash", 1);
  await expect(cash.getByText("₹50.50 less settled than expected, closed by the deliv")).toBeVisible();
  await expect(shop.getByText("1 order shown: ₹1,250.50 to collect, ₹1,200.00 settled.")).toBeVisible();
  await check(shop, "cash-paid", { bothSizes: true });
  // A phone shows the same amount, and that it is closed.
  await shop.setViewportSize(PHONE);
  const card = shop.getByRole("list", { name: "Orders with cash" }).getByRole("listitem");
  await expect(card.getByText("To collect ₹1,250.50")).toBeVisible();
  await expect(card.getByText("Closed", { exact: true })).toBeVisible();
  await shop.setViewportSize(DESKTOP);
  await cash.getByRole("link", { name: "paid-2" }).click();
  await expect(shop.getByText(/^₹1,200.00 paid on 1 Feb 2026 with UTR 2 \(rem_/)).toBeVisible();
  await check(shop, "order-paid", { bothSizes: true });
  await expect(shop.getByRole("region", { name: "Outcome" })).toContainText(", ₹50.50 less than expected");
  const ofOrder = shop.getByRole("region", { name: "Money" });
  await expect(fact(ofOrder, "Difference, closed")).toHaveText("−₹50.50");
  await expect(ofOrder.getByText("less settled than expected, closed by the delivery company")).toBeVisible();
  await shop.getByRole("region", { name: "Money" }).getByRole("link", { name: "UTR 2" }).click();
  await heading(shop, "Bank transfer UTR 2");
  const transfer = new URL(shop.url()).pathname;
  await expect(row(shop, "Orders of the bank transfer", "paid-2").getByText("torn note")).toBeVisible();
  await check(shop, "remittance", { bothSizes: true });
  const [download] = await Promise.all([
    shop.waitForEvent("download"),
    shop.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  const lines = (await text(await download.createReadStream())).trim().split(/\r?\n/);
  expect(lines).toHaveLength(3);
  await shop.goto("/account/audit-log");
  await expect(row(shop, "Audit log", "Cash discrepancy closed")).toBeVisible();
  await expect(row(shop, "Audit log", "Paid by hand")).toHaveCount(0);

  for (const [reader, path, list] of [
    [shop, "/cash-on-delivery", "Orders with cash"],
    [shop, "/cash-on-delivery", "Bank transfers"],
    [shop, transfer, "Orders of the bank transfer"],
    [shop, "/wallet", "Statement"],
    [shop, "/exceptions", "Failed"],
    [page, `/operator/exceptions?businessId=${business.id}`, "Failed"],
    [page, `/operator/businesses/${business.id}`, "Statement"],
    [page, `/operator/businesses/${business.id}?tab=cash`, "Orders with cash"],
    [page, `/operator/businesses?search=${business.id}`, "Businesses"],
  ] as const) {
    await reader.setViewportSize(PHONE);
    await reader.goto(path);
    await isDense(reader, list);
  }
});

/** On a phone, no row is higher than 80 pixels. */
async function isDense(page: Page, list: string): Promise<void> {
  expect(await tallestRow(page, list), list).toBeLessThanOrEqual(80);
}
