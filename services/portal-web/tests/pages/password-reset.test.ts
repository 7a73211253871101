import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, visit } from "../support/browser";
import { newBusiness, PASSWORD, someone } from "../support/business";
import { heading, logIn, logInAsOperator, openBusiness, takeSecret } from "../support/pages";
import { stack } from "../support/stack";
import { until } from "../support/until";

const NEXT_PASSWORD = `${PASSWORD} anew`;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

test("who forgot the password is sent a link, which opens the account once and logs out everybody", async () => {
  const [owner, forgetful] = [await visit(browser), await visit(browser)];
  const { email } = await newBusiness(owner, "Forgetful");
  await owner.page.goto("/");
  await heading(owner.page, "Overview");
  const { page } = forgetful;
  await page.goto("/log-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  // The page before has a field of the same name.
  await heading(page, "Reset your password");
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await heading(page, "Look into your inbox");
  // Pasted where the page is open already.
  await changePassword(page, await linkMailedTo(email));
  await page.getByText("Your password is changed").waitFor();
  await owner.page.goto("/orders");
  await heading(owner.page, "Log in");
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await page.getByText("The e-mail or the password is wrong.").waitFor();
  await logIn(page, email, NEXT_PASSWORD);
  await heading(page, "Overview");
  expect(owner.faults.concat(forgetful.faults)).toEqual([]);
  await owner.context.close();
  await forgetful.context.close();
});

test("nothing tells whether an address has an account", async () => {
  const visitor = await visit(browser);
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Secretive");
  await visitor.context.clearCookies();
  const answers: (string | null)[] = [];
  for (const address of [email, someone("nobody").email]) {
    await page.goto("/reset-password");
    await page.getByLabel("E-mail").fill(address);
    await page.getByRole("button", { name: "Send the link" }).click();
    await heading(page, "Look into your inbox");
    answers.push(await page.getByRole("status").first().textContent());
  }
  expect(answers[1]).toBe(answers[0]);
  expect(visitor.faults).toEqual([]);
  await visitor.context.close();
});

test("who lost the password is let in again by a link of the operator's, once", async () => {
  const [owner, operator, locked] = [await visit(browser), await visit(browser), await visit(browser)];
  const business = await newBusiness(owner, "Locked out");
  const { page } = operator;
  await logInAsOperator(page);
  await openBusiness(page, business.email, business.name);
  await page.getByRole("tab", { name: "People" }).click();
  await page.getByRole("button", { name: `Make a reset link for ${business.email}` }).click();
  const link = await takeSecret(page, `Reset link for ${business.email}`);
  await changePassword(locked.page, link);
  await locked.page.getByText("Your password is changed").waitFor();
  await locked.page.goto("/log-in");
  await locked.page.goto(link);
  await heading(locked.page, "This link cannot be used");
  expect(await locked.page.getByLabel("New password").count()).toBe(0);
  await locked.page.getByRole("button", { name: "Ask for another link" }).waitFor();
  expect(owner.faults.concat(operator.faults, locked.faults)).toEqual([]);
  for (const { context } of [owner, operator, locked]) await context.close();
});

async function changePassword(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  expect(page.url()).not.toContain("token=");
  await page.getByRole("button", { name: "Change password" }).click();
}

/** The reset link of the mail that the stack has left in its folder. */
function linkMailedTo(email: string): Promise<string> {
  return until(`a mail for ${email}`, async () => {
    // It is made for the first of them.
    const names = existsSync(stack.mailFolder) ? readdirSync(stack.mailFolder) : [];
    const mails = names.map((name) => readFileSync(join(stack.mailFolder, name), "utf8"));
    // Long lines are broken, and `=` is written as `=3D`, where a mail is quoted-printable.
    const texts = mails.map((mail) => mail.replace(/=\r?\n/g, "").replace(/=3D/g, "="));
    return texts.find((text) => text.includes(email))?.match(/https?:\S+\/reset-password#token=[\w-]+/)?.[0];
  });
}
