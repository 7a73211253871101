// Reversed days in filters, and filters in the address.

import type { Page } from "@playwright/test";
import { operator } from "../support/api";
import { logInAsOperator, newBusiness } from "../support/business";
import { check, settled } from "../support/page-checks";
import { heading, row } from "../support/pages";
import { expect, test } from "../support/test";

const ERROR = "From must be before To.";

/** Counts the calls for this path from now on. */
function count(page: Page, path: string): () => number {
  let calls = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === path) calls += 1;
  });
  return () => calls;
}

/** Fills in reversed days: the first one counts, the second one is an error without a call. */
async function reverse(page: Page, path: string, [from, to]: [string, string]): Promise<void> {
  const calls = count(page, path);
  await page.getByLabel(from, { exact: true }).fill("2026-03-02");
  await page.waitForURL(/from=2026-03-02/);
  await settled(page);
  const before = calls();
  await page.getByLabel(to, { exact: true }).fill("2026-03-01");
  await expect(page.getByText(ERROR)).toBeVisible();
  await expect(page.getByLabel(from, { exact: true })).toHaveAttribute("aria-invalid", "true");
  await settled(page);
  expect(calls()).toBe(before);
  await check(page, `reversed${path.replaceAll("/", "-")}`, { bothSizes: true });
  await page.getByLabel(to, { exact: true }).fill("2026-03-02");
  await expect(page.getByText(ERROR)).toBeHidden();
}

test("reversed days are an error next to their field", async ({ page }) => {
  await newBusiness(page, "Reversed");
  await page.goto("/account/audit-log");
  await heading(page, "Account");
  await reverse(page, "/v1/portal/audit-log", ["From", "To"]);
  await expect(page.getByText("No results match these filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page.getByRole("paragraph").filter({ hasText: "Account created" })).toBeVisible();
  await page.goto("/wallet");
  await heading(page, "Wallet");
  await reverse(page, "/v1/portal/wallet/entries", ["From day", "To day"]);
});

test("the operator's audit log keeps its filters in the address, and reads like sentences", async ({
  page,
  request,
}) => {
  const business = await newBusiness({ request }, `Logged ${Date.now()}`);
  await logInAsOperator(page);
  const credit = { amountPaise: 100_050, reference: "neft_0815" };
  await operator("POST", `/businesses/${business.id}/wallet/credits`, credit, 201);
  await page.goto("/operator/audit-log");
  const chosen = page.getByRole("combobox", { name: "Business", exact: true });
  await chosen.fill(business.name);
  await page.getByRole("option", { name: business.name }).click();
  await page.waitForURL(new RegExp(`businessId=${business.id}`));
  await page.getByLabel("Action").selectOption({ label: "Wallet credited" });
  await page.waitForURL(/action=wallet.credited/);
  const credited = row(page, "Audit log", "Wallet credited");
  await expect(credited.getByText("₹1,000.50", { exact: true })).toBeVisible();
  await expect(credited.getByText("Reference: neft_0815")).toBeVisible();
  await expect(credited).toHaveCount(1);
  await page.reload();
  await expect(credited.getByText("Reference: neft_0815")).toBeVisible();
  await expect(chosen).toHaveValue(business.name);
  await page.getByRole("button", { name: "All businesses" }).click();
  await page.waitForURL((url) => !url.search.includes("businessId"));
  await reverse(page, "/v1/operator/audit-log", ["From", "To"]);
});
