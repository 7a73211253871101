// The lists of sessions, and the exports of the audit logs.
import { text } from "node:stream/consumers";
import type { Page } from "@playwright/test";
import {
  joinStaff,
  joinTeam,
  logInAsOperator,
  logInByApi,
  newBusiness,
  newTeam,
  PASSWORD,
} from "../support/business";
import { check } from "../support/page-checks";
import { chooseOfAccount, heading, row, rowsOf } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

const NEXT_PASSWORD = "another long enough secret";

/** Chooses a format of the page's export, and returns the lines of the file. */
async function exported(page: Page, format: RegExp): Promise<string[]> {
  await page.getByRole("button", { name: "Export" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: format }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^[a-z]+-audit-log-to-20\d\d-\d\d-\d\d\.(csv|jsonl)$/);
  return (await text(await file.createReadStream())).split(/\r?\n/).filter(Boolean);
}

test("a user sees where the sessions come from, and exports what matches the filter", async ({
  page,
  visit,
}) => {
  const there = await visit();
  const { email } = await newBusiness(page, "Watchful");
  await logInByApi(there, email);

  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  const own = row(page, "Sessions", "This session");
  await expect(own.getByText(/^Chrome on /)).toBeVisible();
  await expect(own.getByText("127.0.0.1")).toBeVisible();
  await screenshot(page, "sessions");

  await page.goto("/account/audit-log");
  await expect(row(page, "Audit log", "Logged in").getByText("127.0.0.1")).toBeVisible();
  const all = (await exported(page, /JSON Lines/)).map((line) => JSON.parse(line));
  expect(all.map((entry) => entry.action)).toContain("account.created");
  await page.getByLabel("Action").selectOption({ label: "Logged in" });
  await page.getByLabel("IP address").fill("127.0.0.1");
  await page.getByLabel("IP address").press("Enter");
  await rowsOf(page, "Audit log", 1);
  const rows = await exported(page, /CSV/);
  expect(rows).toHaveLength(2);
  expect(rows[1]).toContain(`,session.opened,user,`);
  await page.goto("/account/audit-log");
  await expect(
    row(page, "Audit log", "Audit log exported").getByText("Filtered by action, address"),
  ).toBeVisible();
  await page.getByLabel("IP address").fill("here");
  await expect(page.getByText("Enter a complete IP address.")).toBeVisible();
  await screenshot(page, "audit-log-filters");
});

test("an owner ends the sessions of a user", async ({ page, visit }) => {
  const member = await visit();
  await newTeam(page, "Strict");
  const email = await joinTeam(member, page, "viewer");
  await page.goto("/account/team");
  await check(page, "team", { bothSizes: true });
  await page.getByRole("button", { name: `End sessions of ${email}` }).click();
  await screenshot(page, "end-sessions-of-user");
  await page.getByRole("button", { name: "End sessions", exact: true }).last().click();
  await expect(page.getByText("1 session ended.")).toBeVisible();
  await member.goto("/orders");
  await heading(member, "Log in");
});

test("a person of the staff changes the password, and lists the sessions of the console", async ({
  page,
}) => {
  const { email } = await joinStaff(page, "Asha Rao");
  await page.goto("/operator/account");
  await heading(page, "Your account");
  await rowsOf(page, "Sessions", 1);
  await page.getByLabel("Current password").fill("not the secret");
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByText("Password changed.")).toBeVisible();
  await check(page, "operator-account", { bothSizes: true });

  await page.goto("/operator/audit-log");
  await heading(page, "Audit log");
  await page.getByLabel("Person or token").fill(email);
  // Set, logged in, a wrong password, and changed.
  await rowsOf(page, "Audit log", 4);
  await expect(row(page, "Audit log", "Password changed")).toBeVisible();
  const lines = await exported(page, /JSON Lines/);
  expect(lines.every((line) => JSON.parse(line).actor.name === email)).toBe(true);
  await check(page, "operator-audit-log", { bothSizes: true });
});

test("the sessions of the installation token are listed apart", async ({ page }) => {
  await logInAsOperator(page);
  await page.goto("/operator");
  await chooseOfAccount(page, "Sessions");
  await heading(page, "Sessions");
  await expect(row(page, "Sessions", "This session")).toBeVisible();
  await expect(page.getByLabel("Current password")).toHaveCount(0);
  await check(page, "operator-token-sessions", { bothSizes: true });
});
