// The server's errors of fields, in the words of the page.
import { operator } from "../support/api";
import { confirmEmail, newBusiness } from "../support/business";
import { heading } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

test("a common password is refused in the words of the form", async ({ page }) => {
  await page.goto("/sign-up");
  await page.getByLabel("Business name").fill("Common");
  await page.getByLabel("Work e-mail").fill(`common-${Date.now()}@shop.example`);
  await page.getByLabel("Password", { exact: true }).fill("password123");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByText("Password is a common password")).toBeVisible();
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
});

test("single sign-on that lets nobody in names the fields of the form", async ({ page }) => {
  const { id, email } = await newBusiness(page, "Nobody");
  await confirmEmail(page, email);
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  await page.goto("/account/single-sign-on");
  await page.getByLabel("Issuer").fill("id.example");
  await page.getByLabel("Client id").fill("waybill");
  await page.getByLabel("Client secret").fill("secret of the client");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await expect(page.getByText("Issuer must be an absolute")).toBeVisible();
  await page.getByLabel("Issuer").fill("https://id.example");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await expect(page.getByText("give a group a role, or set “Everybody else”")).toBeVisible();
  await screenshot(page, "sso-form-errors");
});

test("the present address is no new one", async ({ page }) => {
  const { email } = await newBusiness(page, "Present");
  let calls = 0;
  page.on("request", (request) => {
    if (request.method() === "PUT") calls += 1;
  });
  await page.goto("/account");
  await heading(page, "Account");
  await expect(
    page.getByText("Your profile, password, sessions, your team and the audit log."),
  ).toBeVisible();
  await page.getByRole("button", { name: "Change e-mail address" }).click();
  const dialog = page.getByRole("dialog", { name: "Change your e-mail address" });
  await dialog.getByLabel("New e-mail address").fill(` ${email.toUpperCase()}`);
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("This is your present address.")).toBeVisible();
  expect(calls).toBe(0);
});
