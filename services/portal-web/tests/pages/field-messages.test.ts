// The server's errors of fields, in the words of the page.
import { operator } from "../support/api";
import { confirmEmail, newBusiness, newTestKey } from "../support/business";
import { check } from "../support/page-checks";
import { heading } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

test("errors of a key's options name the labels and every bad line", async ({ page }) => {
  await newBusiness(page, "Lines");
  await newTestKey(page, "first");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByLabel("Name").fill("shop");
  await dialog.getByRole("button", { name: "Options" }).click();
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  await dialog.getByLabel("Allowed addresses").fill("10.0.0.0/8\nhere\n10.0.0.1\nthere");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(dialog.getByText("Expires must be in the future")).toBeVisible();
  for (const line of ["Line 2 must be a network", "Line 4 must be a network"]) {
    await expect(dialog.getByText(line)).toBeVisible();
  }
  await expect(dialog.getByText(/ipAllowList|expiresAt/)).toHaveCount(0);
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
  await check(page, "key-options-errors");
});

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
