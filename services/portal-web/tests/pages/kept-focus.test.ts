// The focus does not fall to the top of the page when the focused control disappears.

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { type Visitor, visit } from "../support/browser";
import {
  type Business,
  confirmEmail,
  joinTeam,
  logInAsOperator,
  newBusiness,
  newTestKey,
} from "../support/business";
import { tabTo } from "../support/page-checks";
import { openBusiness } from "../support/pages";

let owner: Visitor;
let business: Business;
beforeAll(async () => {
  owner = await visit();
  business = await newBusiness(owner, `Focused ${Date.now()}`);
  await confirmEmail(owner, business.email);
});

/** By keyboard alone. */
async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, "button", name);
  await page.keyboard.press("Enter");
}

async function focused(page: Page, role: "heading" | "button", name: string): Promise<void> {
  await page.getByRole(role, { name, exact: true }).and(page.locator(":focus")).waitFor();
}

test("after approving, granting and withdrawing, the focus is at the section", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await logInAsOperator(visitor);
  await openBusiness(page, business);
  await press(page, "Approve");
  await focused(page, "heading", "Status");
  await press(page, "Grant live access");
  const grant = page.getByRole("dialog", { name: `Grant live access to ${business.name}?` });
  await grant.waitFor();
  await press(page, "Grant live access");
  await grant.waitFor({ state: "hidden" });
  await focused(page, "heading", "Status");
  await press(page, "Withdraw");
  await page.getByRole("dialog").waitFor();
  await press(page, "Withdraw");
  await page.getByRole("status", { name: "Live access" }).getByText("Not granted").waitFor();
  await focused(page, "heading", "Status");
});

test("after a removal, and after a secret was stored, the focus is at the list or its button", async () => {
  await operator("PATCH", `/businesses/${business.id}`, { status: "active" });
  const { page } = owner;
  const email = await joinTeam(await visit(), owner, "viewer");
  await page.goto("/account/team");
  await press(page, `Remove ${email}`);
  await page.getByRole("dialog", { name: `Remove ${email}?` }).waitFor();
  await press(page, "Remove");
  await page.getByRole("button", { name: `Remove ${email}` }).waitFor({ state: "detached" });
  await focused(page, "heading", "Users");

  await newTestKey(owner, "first");
  await page.goto("/api-keys");
  await press(page, "Create key");
  await tabTo(page, "textbox", "Name");
  await page.keyboard.type("second");
  await page.keyboard.press("Enter");
  const shown = page.getByRole("dialog", { name: "Your Test key" });
  await shown.waitFor();
  await press(page, "I have stored it");
  await shown.waitFor({ state: "hidden" });
  await focused(page, "button", "Create key");
});

test("a click next to all controls takes the focus away, and it stays away", async () => {
  const { page } = owner;
  await page.goto("/api-keys");
  await tabTo(page, "button", "Create key");
  await page.getByRole("heading", { level: 1 }).click();
  await page.getByRole("table", { name: "Test keys" }).waitFor();
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BUTTON");
});
