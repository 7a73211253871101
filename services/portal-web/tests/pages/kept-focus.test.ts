// The focus does not fall to the top of the page when the focused control disappears.

import type { Page } from "@playwright/test";
import { operator } from "../support/api";
import {
  type Business,
  joinTeam,
  logInAsOperator,
  newConfirmed,
  newTestKey,
  type Session,
} from "../support/business";
import { tabTo } from "../support/page-checks";
import { openBusiness } from "../support/pages";
import { expect, test } from "../support/test";

let owner: Session;
let business: Business;
test.beforeAll(async ({ request }) => {
  business = await newConfirmed({ request }, `Focused ${Date.now()}`);
  await newTestKey({ request }, "first");
  owner = await request.storageState();
});

/** By keyboard alone. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, "button", name);
  await page.keyboard.press("Enter");
}

async function focused(page: Page, role: "heading" | "button", name: string): Promise<void> {
  await expect(page.getByRole(role, { name, exact: true })).toBeFocused();
}

test("after approving, granting and withdrawing, the focus is at the section", async ({ page }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  await press(page, "Approve");
  await focused(page, "heading", "Status");
  await press(page, "Grant live access");
  const grant = page.getByRole("dialog", { name: `Grant live access to ${business.name}?` });
  await expect(grant).toBeVisible();
  await press(page, "Grant live access");
  await expect(grant).toBeHidden();
  await focused(page, "heading", "Status");
  await press(page, "Withdraw");
  await expect(page.getByRole("dialog")).toBeVisible();
  await press(page, "Withdraw");
  await expect(page.getByRole("status", { name: "Live access" }).getByText("Not granted")).toBeVisible();
  await focused(page, "heading", "Status");
});

test("after a removal, and after a secret was stored, the focus is at the list or its button", async ({
  visit,
}) => {
  const page = await visit({ storageState: owner });
  await operator("PATCH", `/businesses/${business.id}`, { status: "active" });
  const email = await joinTeam(await visit(), page, "viewer");
  await page.goto("/account/team");
  await press(page, `Remove ${email}`);
  await expect(page.getByRole("dialog", { name: `Remove ${email}?` })).toBeVisible();
  await press(page, "Remove");
  await expect(page.getByRole("button", { name: `Remove ${email}` })).toHaveCount(0);
  await focused(page, "heading", "Users");

  await page.goto("/api-keys");
  await press(page, "Create key");
  await tabTo(page, "textbox", "Name");
  await page.keyboard.type("second");
  await page.keyboard.press("Enter");
  const shown = page.getByRole("dialog", { name: "Your Test key" });
  await expect(shown).toBeVisible();
  await press(page, "I have stored it");
  await expect(shown).toBeHidden();
  await focused(page, "button", "Create key");
});

test("a click next to all controls takes the focus away, and it stays away", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.goto("/api-keys");
  await tabTo(page, "button", "Create key");
  await page.getByRole("heading", { level: 1 }).click();
  await expect(page.getByRole("table", { name: "Test keys" })).toBeVisible();
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BUTTON");
});
