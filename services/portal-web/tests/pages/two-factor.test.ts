// Two-factor authentication of users and of the operator's staff, and the dialog that confirms the identity.

import type { Page, Route } from "@playwright/test";
import { operator } from "../support/api";
import { codeOf } from "../support/authenticator";
import {
  confirmEmail,
  joinStaff,
  logInAsOperator,
  newBusiness,
  newConfirmed,
  newTeam,
  PASSWORD,
  send,
  someone,
} from "../support/business";
import { check, tabTo } from "../support/page-checks";
import { chooseOfAccount, fact, heading, logIn, NOT_RECENT, refuse } from "../support/pages";
import { stack } from "../support/stack";
import { expect, PHONE, test } from "../support/test";

/** Scans the secret, and turns the second factor on. Returns the secret and the recovery codes. */
async function setUp(page: Page) {
  const secret = (await page.getByRole("status", { name: "Secret for your app" }).textContent()) ?? "";
  await expect(page.getByRole("img", { name: "QR code for your authenticator app" })).toBeVisible();
  await page.getByLabel("Code from your app").fill(codeOf(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog", { name: "Your recovery codes" });
  await expect(dialog).toBeVisible();
  const codes = await dialog
    .getByRole("list", { name: "Recovery codes" })
    .getByRole("listitem")
    .allTextContents();
  expect(codes.length).toBe(10);
  const download = page.waitForEvent("download");
  await dialog.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("recovery-codes.txt");
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "I have stored them" }).click();
  await expect(dialog).toBeHidden();
  return { secret, codes };
}

test("a user sets up an app, and logs in with its code or a recovery code", async ({ visit }) => {
  const [owner, page] = [await visit({ viewport: PHONE }), await visit({ viewport: PHONE })];
  const { email } = await newBusiness(owner, "Two factors");
  await owner.goto("/account");
  await expect(owner.getByText("Confirm your e-mail address first")).toBeVisible();
  await expect(owner.getByRole("button", { name: "Set up" })).toHaveCount(0);
  await check(owner, "two-factor-unconfirmed", { bothSizes: true });
  await confirmEmail(owner, email);
  await owner.reload();
  await owner.getByRole("button", { name: "Set up" }).click();
  await owner.getByLabel("Code from your app").fill("000000");
  await owner.getByRole("button", { name: "Turn on" }).click();
  await expect(owner.getByText("The code is wrong")).toBeVisible();
  await check(owner, "two-factor-set-up", { bothSizes: true });
  const { secret, codes } = await setUp(owner);
  await expect(owner.getByText("10 recovery codes left.")).toBeVisible();
  await check(owner, "two-factor-on", { bothSizes: true });
  await owner.goto("/account/team");
  const own = owner.getByRole("list", { name: "Users" }).getByRole("listitem");
  await expect(fact(own, "Two-factor")).toHaveText("On");
  await owner.goto("/account");

  await page.goto("/log-in?next=%2Fwallet");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  const field = page.getByLabel("Code from your app");
  await expect(field).toHaveAttribute("autocomplete", "one-time-code");
  expect((await page.request.get("/v1/portal/wallet")).status()).toBe(401);
  await check(page, "two-factor-log-in", { bothSizes: true });
  // With the keyboard alone.
  await page.keyboard.type("000000");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The code is wrong")).toBeVisible();
  await field.fill(codeOf(secret, 1));
  await page.keyboard.press("Enter");
  await heading(page, "Wallet");

  await page.context().clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await tabTo(page, "button", "Use a recovery code");
  await page.keyboard.press("Enter");
  await page.getByLabel("Recovery code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Overview");

  await owner.reload();
  await expect(owner.getByText("9 recovery codes left.")).toBeVisible();
  await owner.getByRole("button", { name: "Turn off" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await expect(owner.getByRole("button", { name: "Set up" })).toBeVisible();
  await page.context().clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await heading(page, "Overview");
});

test("a call that needs a recent authentication is repeated after the password", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await newTeam(page, "Some time ago");
  const { email } = someone("invited");
  const refusals = await refuse(page, "**/v1/portal/invitations", "POST", NOT_RECENT, 2);
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Viewer").check();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog.getByText("Confirm that it is you.")).toBeVisible();

  await dialog.getByRole("button", { name: "Send invitation" }).click();
  const password = question.getByLabel("Your password");
  await expect(password).toBeFocused();
  await password.fill("not the secret");
  await page.keyboard.press("Enter");
  await expect(question.getByText("The password is wrong")).toBeVisible();
  // The dialog behind it shows that its call waits.
  await check(page, "confirm-identity", { bothSizes: true, isWaiting: true });
  await password.fill(PASSWORD);
  await page.keyboard.press("Enter");
  await expect(page.getByText(`We sent the invitation to ${email}.`)).toBeVisible();
  expect(refusals()).toBe(2);
});

test("a call that crosses the confirmation of another tab is repeated with the new cookie", async ({
  page: shop,
  visit,
}) => {
  const staff = await visit();
  await newBusiness(shop, "Two tabs");
  await shop.goto("/account");
  await shop.getByLabel("Name of the business").fill("Two tabs and a name");
  const renamed = await crossing(shop, "**/v1/portal/business", "/v1/portal/session/confirm");
  await shop.getByRole("button", { name: "Rename business" }).click();
  await expect(shop.getByRole("button", { name: /^Account: .*Two tabs and a name/ })).toBeVisible();
  expect(renamed()).toBe(401);

  await joinStaff(staff, "Two consoles");
  const listed = await crossing(staff, "**/v1/operator/businesses?*", "/v1/operator/session/confirm");
  await staff.goto("/operator/businesses");
  const loaded = staff.locator(":not([aria-busy=true])");
  await expect(staff.getByRole("table", { name: "Businesses" }).and(loaded)).toBeVisible();
  expect(listed()).toBe(401);
});

/** Another tab confirms while one of these calls is on its way with the former cookie. Returns the status of that call. */
async function crossing(page: Page, calls: string, confirm: string): Promise<() => number> {
  let status = 0;
  const cross = async (route: Route) => {
    const cookies = (await page.context().cookies()).map((one) => `${one.name}=${one.value}`);
    await send(page, "POST", confirm, { password: PASSWORD }, 204);
    const headers = { ...(await route.request().allHeaders()), cookie: cookies.join("; ") };
    const response = await route.fetch({ headers });
    status = response.status();
    await route.fulfill({ response });
  };
  await page.route(calls, cross, { times: 1 });
  return () => status;
}

test("a session of the installation token is confirmed with the token", async ({ page }) => {
  await logInAsOperator(page);
  const refusals = await refuse(page, "**/v1/operator/tokens", "POST", NOT_RECENT);
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill(`confirmed ${Date.now()}`);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  const token = question.getByLabel("Installation token");
  await expect(token).toBeFocused();
  await token.fill("not the token");
  await page.keyboard.press("Enter");
  await expect(question.getByText("The installation token is wrong.")).toBeVisible();
  await check(page, "confirm-with-token", { bothSizes: true, isWaiting: true });
  await token.fill(stack.operatorToken);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: /^Token confirmed/ })).toBeVisible();
  expect(refusals()).toBe(1);
});

test("a user whose role requires it sets it up first, and then continues", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await newConfirmed(page, "Required");
  let isRequired = true;
  // The local stack requires it for no role, so that the test plays the server's answer.
  await page.route("**/v1/portal/session", async (route) => {
    const response = await route.fetch();
    const session = await response.json();
    await route.fulfill({
      response,
      json: isRequired ? { ...session, mfaEnrolmentRequired: true } : session,
    });
  });
  await page.goto("/orders");
  await heading(page, "Set up two-factor authentication");
  await expect(page.getByRole("navigation")).toHaveCount(0);
  await check(page, "two-factor-required", { bothSizes: true });
  isRequired = false;
  await setUp(page);
  await heading(page, "Orders");
});

test("a person of the staff logs in with a code, and an administrator resets it", async ({ page }) => {
  const { id, email } = await joinStaff(page, "Asha Rao");
  await page.goto("/operator/account");
  await heading(page, "Your account");
  await page.getByRole("button", { name: "Set up" }).click();
  const { secret } = await setUp(page);
  await check(page, "operator-two-factor", { bothSizes: true });

  await chooseOfAccount(page, "Log out");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Your account");

  await operator("DELETE", `/staff/${id}/second-factor`, undefined, 204);
  await page.reload();
  await logIn(page, email, PASSWORD);
  await expect(page.getByRole("button", { name: "Set up" })).toBeVisible();
});
