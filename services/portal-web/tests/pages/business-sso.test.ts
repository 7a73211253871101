// Single sign-on of a business, with a real provider (`oidc-provider`) in the browser: an owner sets it up, and people log in.
import { newTeam, type Session } from "../support/business";
import { check, tabTo } from "../support/page-checks";
import { heading, refuse } from "../support/pages";
import { authenticate, type IdentityProvider, startProvider } from "../support/sso-provider";
import { stack } from "../support/stack";
import { expect, PHONE, test } from "../support/test";

let owner: Session;
let provider: IdentityProvider;
let logInPage: string;

// Each test continues from the previous one.
test.describe.configure({ mode: "serial" });
test.beforeAll(async ({ request }) => {
  const { id } = await newTeam({ request }, "Shop of single sign-on");
  owner = await request.storageState();
  logInPage = `${stack.portal}/log-in/${id}`;
  provider = await startProvider("0", logInPage);
});
test.afterAll(() => provider.stop());

test("an owner sets it up, with errors in words, and tests the provider", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.goto("/account/single-sign-on");
  await expect(page.getByText(`${logInPage}/return`)).toBeVisible();
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await expect(page.getByText("Enter the client secret.")).toBeVisible();
  await page.getByLabel("Issuer").fill("https://10.0.0.1");
  await page.getByLabel("Client id").fill("waybill-RS256");
  await page.getByLabel("Client secret").fill("a secret of the provider in tests");
  await page.getByLabel("Scopes").fill("email profile groups");
  await page.getByLabel("Everybody else").selectOption("viewer");
  const warning = page.getByText("A public provider such as Google knows everybody");
  await expect(warning).toBeVisible();
  await page.getByLabel("Allowed domains").fill("shop.example");
  await expect(warning).toHaveCount(0);
  await page.getByLabel("Everybody else").selectOption("");
  await page.getByRole("button", { name: "Add a group" }).click();
  await page.getByLabel("Group 1", { exact: true }).fill("ops");
  await page.getByLabel("Role of group 1").selectOption("developer");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await expect(page.getByText("issuer must have a public address")).toBeVisible();
  await check(page, "business-sso-error");
  await page.getByLabel("Issuer").fill(provider.issuer);
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await expect(page.getByRole("heading", { name: "Single sign-on is on" })).toBeVisible();
  await page.getByRole("button", { name: "Test the provider" }).click();
  await expect(page.getByText("The provider answers, and can be used.")).toBeVisible();
  await check(page, "business-sso-settings");
  await page.setViewportSize(PHONE);
  await check(page, "business-sso-settings-phone");
});

test("a person logs in with the keyboard, comes back, and logs out of both", async ({ page }) => {
  await page.goto(`${logInPage}?next=/orders`);
  await check(page, "business-sso-log-in");
  await tabTo(page, "button", "Log in with single sign-on");
  await page.keyboard.press("Enter");
  await authenticate(page, "asha-of-shop");
  await heading(page, "Orders");
  await expect(page).toHaveURL(`${stack.portal}/orders`);
  await page.goto("/account");
  await expect(page.getByText("You are logged in with the account of your company.")).toBeVisible();
  await expect(page.getByText("asha-of-shop@operator.example").first()).toBeVisible();
  await expect(page.getByRole("heading", { name: "Password", exact: true })).toHaveCount(0);
  await check(page, "business-sso-account");
  await page.getByRole("button", { name: "asha-of-shop", exact: false }).first().click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL(logInPage);
  await page.goto("/log-in");
  await expect(page.getByRole("link", { name: "Log in with single sign-on" })).toBeVisible();
  await check(page, "business-sso-remembered");
});

test("an owner can link the user whom the provider has created", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Link asha-of-shop@operator.example" }).click();
  const dialog = page.getByRole("dialog", { name: "Link asha-of-shop@operator.example with another user?" });
  await expect(dialog.getByLabel("Same person as")).not.toHaveValue("");
  await check(page, "business-sso-link");
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

test("a person without a group, and one whose password is refused, see why", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await page.goto(logInPage);
  await page.getByRole("button", { name: "Log in with single sign-on" }).click();
  await authenticate(page, "binu");
  await heading(page, "You are not logged in");
  await expect(page.getByText("none of its groups has a role here")).toBeVisible();
  await check(page, "business-sso-no-role-phone");
  await page.getByRole("link", { name: "Go to the login" }).click();
  await page.waitForURL(logInPage);
  await page.goto("/log-in");
  const message = "Your business requires single sign-on. Log in with your company account.";
  const required = { status: 403, code: "single_sign_on_required", message, logInUrl: logInPage };
  await refuse(page, "**/v1/portal/session", "POST", required);
  await page.getByLabel("E-mail").fill("binu@shop.example");
  await page.getByLabel("Password", { exact: true }).fill("battery staple");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(page.getByText("Your business requires single sign-on.")).toBeVisible();
  await check(page, "business-sso-required-phone");
  await page.getByRole("link", { name: "Log in with single sign-on" }).click();
  await page.waitForURL(logInPage);
});
