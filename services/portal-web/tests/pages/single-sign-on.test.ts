// Single sign-on of the staff, with a real provider (`oidc-provider`) in the browser.
import { afterAll, beforeAll, expect, test } from "vitest";
import { PHONE, screenshot, visit } from "../support/browser";
import { check, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading, NOT_RECENT, refuse } from "../support/pages";
import { authenticate, type IdentityProvider, startProvider } from "../support/sso-provider";
import { stack } from "../support/stack";

const BUTTON = "Log in with Delivery ID";

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startProvider(new URL(stack.identityProvider).port);
});
afterAll(() => provider.stop());

test("an unreachable provider is reported, and passwords still work", async () => {
  const { page } = await visit({ baseURL: stack.console, viewport: PHONE });
  const message = "The identity provider does not respond. Try again, or log in with your password.";
  await refuse(page, "**/v1/operator/sso/log-ins", "POST", { status: 503, code: "sso_unavailable", message });
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await page.getByText("The identity provider does not respond.").waitFor();
  await check(page, "sso-unreachable-phone");
  expect(await page.getByLabel("Password", { exact: true }).isVisible()).toBe(true);
});

test("a person logs in with the provider, comes back to the page, and logs out of both", async () => {
  const visitor = await visit({ baseURL: stack.console });
  const { page } = visitor;
  await page.goto("/operator/staff");
  await check(page, "sso-log-in");
  await tabTo(page, "button", BUTTON);
  await page.keyboard.press("Enter");
  await authenticate(page, "asha-of-pages");
  await heading(page, "Staff");
  expect(page.url()).toBe(`${stack.console}/operator/staff`);
  await page.getByText("asha-of-pages@operator.example").first().waitFor();
  await page.goBack();
  expect(page.url()).not.toContain("code=");

  await page.goto("/operator/account");
  await page.getByText("You are logged in with single sign-on.").waitFor();
  await screenshot(page, "sso-account");
  await chooseOfAccount(page, "Log out");
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL(`${stack.console}/operator`);
  await heading(page, "Operator console");
});

test("a sensitive call leads to the provider and back to the page", async () => {
  const visitor = await visit({ baseURL: stack.console });
  const { page } = visitor;
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: BUTTON }).click();
  await authenticate(page, "asha-of-tokens");
  await heading(page, "Tokens");
  await refuse(page, "**/v1/operator/tokens", "POST", NOT_RECENT);
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill("reports");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  await question.getByText("Log in to your company’s account again.").waitFor();
  await check(page, "sso-confirm", { isWaiting: true });
  await question.getByRole("button", { name: "Log in again" }).click();
  await authenticate(page, "asha-of-tokens");
  await page.getByText("Confirmed. Now repeat what you wanted to do.").waitFor();
  await heading(page, "Tokens");
});

test("a person without a group sees why the log-in is refused", async () => {
  const visitor = await visit({ baseURL: stack.console, viewport: PHONE });
  const { page } = visitor;
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await authenticate(page, "binu");
  await heading(page, "You are not logged in");
  await page.getByText("none of its groups has a role here").waitFor();
  await check(page, "sso-no-role-phone");
  await page.getByRole("link", { name: "Go to the login" }).click();
  await heading(page, "Operator console");
  await page.goto("/operator/sso?state=forged&code=forged");
  await page.getByText("This log-in has expired or was completed before.").waitFor();
});
