import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { visit } from "../support/browser";
import { logInAsOperator, newBusiness, PASSWORD, someone } from "../support/business";
import { mailedLink } from "../support/mails";
import { heading, logIn, openBusiness, takeSecret } from "../support/pages";

const NEXT_PASSWORD = `${PASSWORD} anew`;

test("a forgotten password is reset by an e-mailed link, which works once and logs out all browsers", async () => {
  const [owner, forgetful] = [await visit(), await visit()];
  const { email } = await newBusiness(owner, "Forgetful");
  await owner.page.goto("/");
  await heading(owner.page, "Overview");
  const { page } = forgetful;
  await page.goto("/log-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  // The previous page has a field with the same label.
  await heading(page, "Reset your password");
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Send link" }).click();
  await heading(page, "Check your inbox");
  // The link is pasted into the open page.
  await changePassword(page, await mailedLink(email, "reset-password"));
  await page.getByText("Password changed").waitFor();
  await owner.page.goto("/orders");
  await heading(owner.page, "Log in");
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await page.getByText("The e-mail or the password is wrong.").waitFor();
  await logIn(page, email, NEXT_PASSWORD);
  await heading(page, "Overview");
});

test("the page does not reveal whether an address has an account", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Secretive");
  await visitor.context.clearCookies();
  const answers: (string | null)[] = [];
  for (const address of [email, someone("nobody").email]) {
    await page.goto("/reset-password");
    await page.getByLabel("E-mail").fill(address);
    await page.getByRole("button", { name: "Send link" }).click();
    await heading(page, "Check your inbox");
    answers.push(await page.getByRole("status").first().textContent());
  }
  expect(answers[1]).toBe(answers[0]);
});

test("a lost password is reset by the operator's link, which works once", async () => {
  const [owner, operator, locked] = [await visit(), await visit(), await visit()];
  const business = await newBusiness(owner, "Locked out");
  const { page } = operator;
  await logInAsOperator(operator);
  await openBusiness(page, business);
  await page.getByRole("tab", { name: "Users" }).click();
  await page.getByRole("button", { name: `Create reset link for ${business.email}` }).click();
  const link = await takeSecret(page, `Reset link for ${business.email}`);
  await changePassword(locked.page, link);
  await locked.page.getByText("Password changed").waitFor();
  await locked.page.goto("/log-in");
  await locked.page.goto(link);
  await heading(locked.page, "This link cannot be used");
  expect(await locked.page.getByLabel("New password").count()).toBe(0);
  await locked.page.getByRole("button", { name: "Request a new link" }).waitFor();
});

async function changePassword(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  expect(page.url()).not.toContain("token=");
  await page.getByRole("button", { name: "Change password" }).click();
}
