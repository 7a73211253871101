// The server's errors of fields, in the words of the page.
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { screenshot, visit } from "../support/browser";
import { confirmEmail, newBusiness, newTestKey } from "../support/business";
import { check } from "../support/page-checks";
import { heading } from "../support/pages";

test("errors of a key's options name the labels and every bad line", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Lines");
  await newTestKey(visitor, "first");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByLabel("Name").fill("shop");
  await dialog.getByRole("button", { name: "Options" }).click();
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  await dialog.getByLabel("Allowed addresses").fill("10.0.0.0/8\nhere\n10.0.0.1\nthere");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByText("Expires must be in the future").waitFor();
  for (const line of ["Line 2 must be a network", "Line 4 must be a network"]) {
    await dialog.getByText(line).waitFor();
  }
  expect(await dialog.getByText(/ipAllowList|expiresAt/).count()).toBe(0);
  await page.locator("[aria-invalid=true]:focus").waitFor();
  await check(page, "key-options-errors");
});

test("a common password is refused in the words of the form", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await page.goto("/sign-up");
  await page.getByLabel("Business name").fill("Common");
  await page.getByLabel("Work e-mail").fill(`common-${Date.now()}@shop.example`);
  await page.getByLabel("Password", { exact: true }).fill("password123");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByText("Password is a common password").waitFor();
  await page.locator("[aria-invalid=true]:focus").waitFor();
});

test("single sign-on that lets nobody in names the fields of the form", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { id, email } = await newBusiness(visitor, "Nobody");
  await confirmEmail(visitor, email);
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  await page.goto("/account/single-sign-on");
  await page.getByLabel("Issuer").fill("id.example");
  await page.getByLabel("Client id").fill("waybill");
  await page.getByLabel("Client secret").fill("secret of the client");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await page.getByText("Issuer must be an absolute").waitFor();
  await page.getByLabel("Issuer").fill("https://id.example");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await page.getByText("give a group a role, or set “Everybody else”").waitFor();
  await screenshot(page, "sso-form-errors");
});

test("the present address is no new one", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Present");
  let calls = 0;
  page.on("request", (request) => {
    if (request.method() === "PUT") calls += 1;
  });
  await page.goto("/account");
  await heading(page, "Account");
  await page.getByText("Your profile, password, sessions, your team and the audit log.").waitFor();
  await page.getByRole("button", { name: "Change e-mail address" }).click();
  const dialog = page.getByRole("dialog", { name: "Change your e-mail address" });
  await dialog.getByLabel("New e-mail address").fill(` ${email.toUpperCase()}`);
  await page.keyboard.press("Enter");
  await dialog.getByText("This is your present address.").waitFor();
  expect(calls).toBe(0);
});
