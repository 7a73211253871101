// The lists of sessions, and the exports of the audit logs.
import { text } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { DESKTOP, openBrowser, PHONE, screenshot, visit } from "../support/browser";
import { confirmEmail, newBusiness, PASSWORD, someone } from "../support/business";
import { mailedLink } from "../support/mails";
import { overhang, seriousFindings, settled } from "../support/page-checks";
import {
  chooseOfAccount,
  heading,
  joinBy,
  logIn,
  logInAsOperator,
  newAdministrator,
  row,
  rowsOf,
} from "../support/pages";

const NEXT_PASSWORD = "another long enough secret";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Chooses a format of the page's export, and returns the lines of the file. */
async function exported(page: Page, format: RegExp): Promise<string[]> {
  await page.getByRole("button", { name: "Export" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: format }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^audit-log\.(csv|jsonl)$/);
  return (await text(await file.createReadStream())).split(/\r?\n/).filter(Boolean);
}

test("a user sees where the sessions come from, and exports what matches the filter", async () => {
  const [here, there] = [await visit(browser), await visit(browser)];
  const { email } = await newBusiness(here, "Watchful");
  await there.page.goto("/log-in");
  await logIn(there.page, email, PASSWORD);
  await heading(there.page, "Overview");

  const { page } = here;
  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  const own = row(page, "Sessions", "This session");
  await own.getByText(/^Chrome on /).waitFor();
  await own.getByText("127.0.0.1").waitFor();
  await screenshot(page, "sessions");

  await page.goto("/account/audit-log");
  await row(page, "Audit log", "Logged in").getByText("127.0.0.1").waitFor();
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
  await row(page, "Audit log", "Audit log exported").getByText("Filtered by action, address").waitFor();
  await page.getByLabel("IP address").fill("here");
  await page.getByText("Enter a complete IP address.").waitFor();
  await screenshot(page, "audit-log-filters");
  expect(here.errors.concat(there.errors)).toEqual([]);
  await here.context.close();
  await there.context.close();
});

test("an owner ends the sessions of a user", async () => {
  const [owner, member] = [await visit(browser), await visit(browser)];
  const { id, email: own } = await newBusiness(owner, "Strict");
  await confirmEmail(owner, own);
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  const { page } = owner;
  const { email } = someone("member");
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Viewer").check();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await joinBy(member.page, await mailedLink(email, "invitation"));
  await page.reload();
  await page.getByRole("button", { name: `End all sessions of ${email}` }).click();
  await screenshot(page, "end-sessions-of-user");
  await page.getByRole("button", { name: "End sessions", exact: true }).last().click();
  await page.getByText("1 session ended.").waitFor();
  await member.page.goto("/orders");
  await heading(member.page, "Log in");
  expect(owner.errors.concat(member.errors)).toEqual([]);
  await owner.context.close();
  await member.context.close();
});

test("a person of the staff changes the password, and lists the sessions of the console", async () => {
  const person = await visit(browser);
  const { page } = person;
  const { email } = await newAdministrator(page);
  await page.goto("/operator/account");
  await heading(page, "Your account");
  await rowsOf(page, "Sessions", 1);
  await page.getByLabel("Current password").fill("not the secret");
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.locator("[aria-invalid=true]:focus").waitFor();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await check(page, "operator-account");

  await page.goto("/operator/audit-log");
  await heading(page, "Audit log");
  await page.getByLabel("Person or token").fill(email);
  // Set, logged in, the list of businesses, a wrong password, and changed.
  await rowsOf(page, "Audit log", 5);
  await row(page, "Audit log", "Password changed").waitFor();
  const lines = await exported(page, /JSON Lines/);
  expect(lines.every((line) => JSON.parse(line).actor.name === email)).toBe(true);
  await check(page, "operator-audit-log");
  expect(person.errors).toEqual([]);
  await person.context.close();
});

test("the sessions of the operator token are listed apart", async () => {
  const visitor = await visit(browser);
  const { page } = visitor;
  await logInAsOperator(page);
  await chooseOfAccount(page, "Sessions");
  await heading(page, "Sessions");
  await row(page, "Sessions", "This session").waitFor();
  expect(await page.getByLabel("Current password").count()).toBe(0);
  await check(page, "operator-token-sessions");
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
});

/** Accessible, and not wider than a phone or a desktop. */
async function check(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    await page.setViewportSize(viewport);
    await settled(page);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await screenshot(page, `${name}-${size}`);
  }
}
