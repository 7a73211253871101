import { stack } from "./support/stack";
import { expect, screenshot, test } from "./support/test";

test("a user signs up, logs out and logs in again", async ({ page, context }) => {
  await page.goto("/");
  const documentation = page.getByRole("link", { name: "API documentation" });
  await expect(documentation).toHaveAttribute("href", `${stack.orderApi}/docs`);
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("Business name").fill("Spice Route");
  const email = `owner-${Date.now()}@spice.example`;
  await page.getByLabel("Work e-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("a long enough secret");
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  await screenshot(page, "overview-new");

  await page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();

  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("not the secret");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByText("The e-mail or the password is wrong.")).toBeVisible();
  await page.getByLabel("Password", { exact: true }).fill("a long enough secret");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();

  const [cookie] = (await context.cookies()).filter((cookie) => cookie.name.endsWith("portal_session"));
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
});
