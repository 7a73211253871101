// Two-factor authentication of users and of the operator's staff, and the dialog that confirms the identity.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { codeOf } from "../support/authenticator";
import { PHONE, type Visitor, visit } from "../support/browser";
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

/** Scans the secret, and turns the second factor on. Returns the secret and the recovery codes. */
async function setUp(page: Page) {
  const secret = (await page.getByRole("status", { name: "Secret for your app" }).textContent()) ?? "";
  await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
  await page.getByLabel("Code from your app").fill(codeOf(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog", { name: "Your recovery codes" });
  await dialog.waitFor();
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
  await dialog.waitFor({ state: "hidden" });
  return { secret, codes };
}

test("a user sets up an app, and logs in with its code or a recovery code", async () => {
  const [owner, visitor] = [await visit({ viewport: PHONE }), await visit({ viewport: PHONE })];
  const { email } = await newBusiness(owner, "Two factors");
  await owner.page.goto("/account");
  await owner.page.getByText("Confirm your e-mail address first").waitFor();
  expect(await owner.page.getByRole("button", { name: "Set up" }).count()).toBe(0);
  await check(owner.page, "two-factor-unconfirmed", { bothSizes: true });
  await confirmEmail(owner, email);
  await owner.page.reload();
  await owner.page.getByRole("button", { name: "Set up" }).click();
  await owner.page.getByLabel("Code from your app").fill("000000");
  await owner.page.getByRole("button", { name: "Turn on" }).click();
  await owner.page.getByText("The code is wrong").waitFor();
  await check(owner.page, "two-factor-set-up", { bothSizes: true });
  const { secret, codes } = await setUp(owner.page);
  await owner.page.getByText("10 recovery codes left.").waitFor();
  await check(owner.page, "two-factor-on", { bothSizes: true });
  await owner.page.goto("/account/team");
  const own = owner.page.getByRole("list", { name: "Users" }).getByRole("listitem");
  expect(await fact(own, "Two-factor").textContent()).toBe("On");
  await owner.page.goto("/account");

  const { page } = visitor;
  await page.goto("/log-in?next=%2Fwallet");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  const field = page.getByLabel("Code from your app");
  expect(await field.getAttribute("autocomplete")).toBe("one-time-code");
  expect((await page.request.get("/v1/portal/wallet")).status()).toBe(401);
  await check(page, "two-factor-log-in", { bothSizes: true });
  // With the keyboard alone.
  await page.keyboard.type("000000");
  await page.keyboard.press("Enter");
  await page.getByText("The code is wrong").waitFor();
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

  await owner.page.reload();
  await owner.page.getByText("9 recovery codes left.").waitFor();
  await owner.page.getByRole("button", { name: "Turn off" }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await owner.page.getByRole("button", { name: "Set up" }).waitFor();
  await page.context().clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await heading(page, "Overview");
});

test("a call that needs a recent authentication is repeated after the password", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await newTeam(visitor, "Some time ago");
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
  await dialog.getByText("Confirm that it is you.").waitFor();

  await dialog.getByRole("button", { name: "Send invitation" }).click();
  const password = question.getByLabel("Your password");
  await page.locator("input:focus").and(password).waitFor();
  await password.fill("not the secret");
  await page.keyboard.press("Enter");
  await question.getByText("The password is wrong").waitFor();
  // The dialog behind it shows that its call waits.
  await check(page, "confirm-identity", { bothSizes: true, isWaiting: true });
  await password.fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByText(`We sent the invitation to ${email}.`).waitFor();
  expect(refusals()).toBe(2);
});

test("a call that crosses the confirmation of another tab is repeated with the new cookie", async () => {
  const [shop, staff] = [await visit(), await visit()];
  await newBusiness(shop, "Two tabs");
  await shop.page.goto("/account");
  const name = shop.page.getByLabel("Name of the business");
  await name.fill("Two tabs and a name");
  const renamed = await crossing(shop, "**/v1/portal/business", "/v1/portal/session/confirm");
  await shop.page.getByRole("button", { name: "Rename business" }).click();
  await shop.page.getByRole("button", { name: /^Account: .*Two tabs and a name/ }).waitFor();
  expect(renamed).toEqual([401, 200]);

  await joinStaff(staff, "Two consoles");
  const listed = await crossing(staff, "**/v1/operator/businesses?*", "/v1/operator/session/confirm");
  await staff.page.goto("/operator/businesses");
  await staff.page.getByRole("table", { name: "Businesses" }).getByRole("row").nth(1).waitFor();
  expect(listed.slice(0, 2)).toEqual([401, 200]);
});

/** Another tab confirms while the first of these calls is on its way with the former cookie. Returns the statuses of the calls. */
async function crossing(visitor: Visitor, calls: string, confirm: string): Promise<number[]> {
  const statuses: number[] = [];
  await visitor.page.route(calls, async (route) => {
    const headers = await route.request().allHeaders();
    if (statuses.length === 0) {
      headers.cookie = (await visitor.context.cookies()).map((one) => `${one.name}=${one.value}`).join("; ");
      await send(visitor, "POST", confirm, { password: PASSWORD }, 204);
    } else {
      delete headers.cookie;
    }
    const response = await route.fetch({ headers });
    statuses.push(response.status());
    await route.fulfill({ response });
  });
  return statuses;
}

test("a session of the installation token is confirmed with the token", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await logInAsOperator(visitor);
  const refusals = await refuse(page, "**/v1/operator/tokens", "POST", NOT_RECENT);
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill(`confirmed ${Date.now()}`);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  const token = question.getByLabel("Installation token");
  await page.locator("input:focus").and(token).waitFor();
  await token.fill("not the token");
  await page.keyboard.press("Enter");
  await question.getByText("The installation token is wrong.").waitFor();
  await check(page, "confirm-with-token", { bothSizes: true, isWaiting: true });
  await token.fill(stack.operatorToken);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: /^Token confirmed/ }).waitFor();
  expect(refusals()).toBe(1);
});

test("a user whose role requires it sets it up first, and then continues", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await newConfirmed(visitor, "Required");
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
  expect(await page.getByRole("navigation").count()).toBe(0);
  await check(page, "two-factor-required", { bothSizes: true });
  isRequired = false;
  await setUp(page);
  await heading(page, "Orders");
});

test("a person of the staff logs in with a code, and an administrator resets it", async () => {
  const person = await visit();
  const { page } = person;
  const { id, email } = await joinStaff(person, "Asha Rao");
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
  await page.getByRole("button", { name: "Set up" }).waitFor();
});
