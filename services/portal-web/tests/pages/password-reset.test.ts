import type { Page } from "@playwright/test";
import { logInAsOperator, newBusiness, PASSWORD, someone } from "../support/business";
import { mailedLink } from "../support/mails";
import { heading, logIn, openBusiness, takeSecret } from "../support/pages";
import { expect, test } from "../support/test";

const NEXT_PASSWORD = `${PASSWORD} anew`;

test("a forgotten password is reset by an e-mailed link, which works once and logs out all browsers", async ({
  page,
  visit,
}) => {
  const owner = await visit();
  const { email } = await newBusiness(owner, "Forgetful");
  await owner.goto("/");
  await heading(owner, "Overview");
  await page.goto("/log-in");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  // The previous page has a field with the same label.
  await heading(page, "Reset your password");
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Send link" }).click();
  await heading(page, "Check your inbox");
  // The link is pasted into the open page.
  await changePassword(page, await mailedLink(email, "reset-password"));
  await expect(page.getByText("Password changed")).toBeVisible();
  await owner.goto("/orders");
  await heading(owner, "Log in");
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await expect(page.getByText("The e-mail or the password is wrong.")).toBeVisible();
  await logIn(page, email, NEXT_PASSWORD);
  await heading(page, "Overview");
});

test("the page does not reveal whether an address has an account", async ({ page }) => {
  const { email } = await newBusiness(page, "Secretive");
  await page.context().clearCookies();
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

test("a lost password is reset by the operator's link, which works once", async ({
  page,
  request,
  visit,
}) => {
  const locked = await visit();
  const business = await newBusiness({ request }, "Locked out");
  await logInAsOperator(page);
  await openBusiness(page, business);
  await page.getByRole("tab", { name: "Users" }).click();
  await page.getByRole("button", { name: `Create reset link for ${business.email}` }).click();
  const link = await takeSecret(page, `Reset link for ${business.email}`);
  await changePassword(locked, link);
  await expect(locked.getByText("Password changed")).toBeVisible();
  await locked.goto("/log-in");
  await locked.goto(link);
  await heading(locked, "This link cannot be used");
  await expect(locked.getByLabel("New password")).toHaveCount(0);
  await expect(locked.getByRole("button", { name: "Request a new link" })).toBeVisible();
});

async function changePassword(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  expect(page.url()).not.toContain("token=");
  await page.getByRole("button", { name: "Change password" }).click();
}
