// Single sign-on of the staff, with a real provider (`oidc-provider`) in the browser.
import { check, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading, NOT_RECENT, refuse } from "../support/pages";
import { authenticate, type IdentityProvider, startProvider } from "../support/sso-provider";
import { stack } from "../support/stack";
import { expect, PHONE, screenshot, test } from "../support/test";

const BUTTON = "Log in with Delivery ID";

test.use({ baseURL: stack.console });

let provider: IdentityProvider;
test.beforeAll(async () => {
  provider = await startProvider(new URL(stack.identityProvider).port);
});
test.afterAll(() => provider.stop());

test("an unreachable provider is reported, and passwords still work", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  const message = "The identity provider does not respond. Try again, or log in with your password.";
  await refuse(page, "**/v1/operator/sso/log-ins", "POST", { status: 503, code: "sso_unavailable", message });
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await expect(page.getByText("The identity provider does not respond.")).toBeVisible();
  await check(page, "sso-unreachable-phone");
  await expect(page.getByLabel("Password", { exact: true })).toBeVisible();
});

test("a person logs in with the provider, comes back to the page, and logs out of both", async ({ page }) => {
  await page.goto("/operator/staff");
  await check(page, "sso-log-in");
  await tabTo(page, "button", BUTTON);
  await page.keyboard.press("Enter");
  await authenticate(page, "asha-of-pages");
  await heading(page, "Staff");
  await expect(page).toHaveURL(`${stack.console}/operator/staff`);
  await expect(page.getByText("asha-of-pages@operator.example").first()).toBeVisible();
  await page.goBack();
  expect(page.url()).not.toContain("code=");

  await page.goto("/operator/account");
  await expect(page.getByText("You are logged in with single sign-on.")).toBeVisible();
  await screenshot(page, "sso-account");
  await chooseOfAccount(page, "Log out");
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL(`${stack.console}/operator`);
  await heading(page, "Operator console");
});

test("a sensitive call leads to the provider and back to the page", async ({ page }) => {
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
  await expect(question.getByText("Log in to your company’s account again.")).toBeVisible();
  await check(page, "sso-confirm", { isWaiting: true });
  await question.getByRole("button", { name: "Log in again" }).click();
  await authenticate(page, "asha-of-tokens");
  await expect(page.getByText("Confirmed. Now repeat what you wanted to do.")).toBeVisible();
  await heading(page, "Tokens");
});

test("a person without a group sees why the log-in is refused", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await authenticate(page, "binu");
  await heading(page, "You are not logged in");
  await expect(page.getByText("none of its groups has a role here")).toBeVisible();
  await check(page, "sso-no-role-phone");
  await page.getByRole("link", { name: "Go to the login" }).click();
  await heading(page, "Operator console");
  await page.goto("/operator/sso?state=forged&code=forged");
  await expect(page.getByText("This log-in has expired or was completed before.")).toBeVisible();
});
