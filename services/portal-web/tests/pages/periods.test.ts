// Reversed days in filters, and filters in the address.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { DESKTOP, PHONE, visit } from "../support/browser";
import { logInAsOperator, newBusiness } from "../support/business";
import { check, settled } from "../support/page-checks";
import { heading, row } from "../support/pages";

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
  await page.getByText(ERROR).waitFor();
  expect(await page.getByLabel(from, { exact: true }).getAttribute("aria-invalid")).toBe("true");
  await settled(page);
  expect(calls()).toBe(before);
  await check(page, `reversed-${path.replaceAll("/", "-")}-${page.viewportSize()?.width}`);
  await page.getByLabel(to, { exact: true }).fill("2026-03-02");
  await page.getByText(ERROR).waitFor({ state: "hidden" });
}

test.each([DESKTOP, PHONE])("reversed days are an error next to their field (%o)", async (viewport) => {
  const visitor = await visit({ viewport });
  const { page } = visitor;
  await newBusiness(visitor, "Reversed");
  await page.goto("/account/audit-log");
  await heading(page, "Account");
  await reverse(page, "/v1/portal/audit-log", ["From", "To"]);
  await page.getByText("No results match these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("paragraph").filter({ hasText: "Account created" }).waitFor();
  await page.goto("/wallet");
  await heading(page, "Wallet");
  await reverse(page, "/v1/portal/wallet/entries", ["From day", "To day"]);
});

test("the operator's audit log keeps its filters in the address, and reads like sentences", async () => {
  const [owner, visitor] = [await visit(), await visit()];
  const { page } = visitor;
  const business = await newBusiness(owner, `Logged ${Date.now()}`);
  await logInAsOperator(visitor);
  const credit = { amountPaise: 100_050, reference: "neft_0815" };
  await operator("POST", `/businesses/${business.id}/wallet/credits`, credit, 201);
  await page.goto("/operator/audit-log");
  await page.getByLabel("Business", { exact: true }).fill(business.id);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`businessId=${business.id}`));
  await page.getByLabel("Action").selectOption({ label: "Wallet credited" });
  await page.waitForURL(/action=wallet.credited/);
  const credited = row(page, "Audit log", "Wallet credited");
  await credited.getByText("₹1,000.50", { exact: true }).waitFor();
  await credited.getByText("Reference: neft_0815").waitFor();
  expect(await credited.count()).toBe(1);
  await page.reload();
  await credited.getByText("Reference: neft_0815").waitFor();
  expect(await page.getByLabel("Business", { exact: true }).inputValue()).toBe(business.id);
  await page.getByLabel("Business", { exact: true }).fill("biz_1");
  await page.getByText("Enter the complete id of a business.").waitFor();
  await page.getByLabel("Business", { exact: true }).fill("");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.search.includes("businessId"));
  await reverse(page, "/v1/operator/audit-log", ["From", "To"]);
});
