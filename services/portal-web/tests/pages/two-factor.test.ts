// Two-factor authentication of users and of the operator's staff, and the dialog that confirms the identity.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { codeOf } from "../support/authenticator";
import { DESKTOP, openBrowser, PHONE, screenshot, visit } from "../support/browser";
import { confirmEmail, newBusiness, PASSWORD, someone } from "../support/business";
import { overhang, seriousFindings, settled, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading, logIn, logInAsOperator, newAdministrator } from "../support/pages";
import { stack } from "../support/stack";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

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

/** On a phone and on a desktop. */
async function check(page: Page, name: string, settle = settled): Promise<void> {
  const before = page.viewportSize() ?? DESKTOP;
  for (const [size, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    await page.setViewportSize(viewport);
    await settle(page);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await screenshot(page, `${name}-${size}`);
  }
  await page.setViewportSize(before);
}

test("a user sets up an app, and logs in with its code or a recovery code", async () => {
  const [owner, visitor] = [
    await visit(browser, { viewport: PHONE }),
    await visit(browser, { viewport: PHONE }),
  ];
  const { email } = await newBusiness(owner, "Two factors");
  await owner.page.goto("/account");
  await owner.page.getByRole("button", { name: "Set up" }).click();
  await owner.page.getByLabel("Code from your app").fill("000000");
  await owner.page.getByRole("button", { name: "Turn on" }).click();
  await owner.page.getByText("The code is wrong").waitFor();
  await check(owner.page, "two-factor-set-up");
  const { secret, codes } = await setUp(owner.page);
  await owner.page.getByText("10 recovery codes left.").waitFor();
  await check(owner.page, "two-factor-on");

  const { page } = visitor;
  await page.goto("/log-in?next=%2Fwallet");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  const field = page.getByLabel("Code from your app");
  expect(await field.getAttribute("autocomplete")).toBe("one-time-code");
  expect((await page.request.get("/v1/portal/wallet")).status()).toBe(401);
  await check(page, "two-factor-log-in");
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
  expect(owner.errors.concat(visitor.errors)).toEqual([]);
  await owner.context.close();
  await visitor.context.close();
});

test("a call that needs a recent authentication is repeated after the password", async () => {
  const visitor = await visit(browser, { viewport: PHONE });
  const { page } = visitor;
  const { id, email: own } = await newBusiness(visitor, "Some time ago");
  await confirmEmail(visitor, own);
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  const { email } = someone("invited");
  let refusals = 0;
  // The local stack has no limit, so that the test plays the server's refusal.
  await page.route("**/v1/portal/invitations", (route) => {
    if (route.request().method() !== "POST" || refusals === 2) return route.fallback();
    refusals += 1;
    const body = {
      code: "recent_authentication_required",
      message: "Confirm that it is you.",
      requestId: "x",
    };
    return route.fulfill({ status: 403, json: body });
  });
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
  await check(page, "confirm-identity", async () => {});
  await password.fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByText(`We sent the invitation to ${email}.`).waitFor();
  expect(refusals).toBe(2);
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
});

test("a session of the operator token is confirmed with the token", async () => {
  const visitor = await visit(browser);
  const { page } = visitor;
  await logInAsOperator(page);
  let refusals = 0;
  await page.route("**/v1/operator/tokens", (route) => {
    if (route.request().method() !== "POST" || refusals === 1) return route.fallback();
    refusals += 1;
    const body = {
      code: "recent_authentication_required",
      message: "Confirm that it is you.",
      requestId: "x",
    };
    return route.fulfill({ status: 403, json: body });
  });
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill(`confirmed ${Date.now()}`);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  const token = question.getByLabel("Operator token");
  await page.locator("input:focus").and(token).waitFor();
  await token.fill("not the token");
  await page.keyboard.press("Enter");
  await question.getByText("The operator token is wrong.").waitFor();
  await check(page, "confirm-with-token", async () => {});
  await token.fill(stack.operatorToken);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: /^Token confirmed/ }).waitFor();
  expect(refusals).toBe(1);
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
});

test("a user whose role requires it sets it up first, and then continues", async () => {
  const visitor = await visit(browser, { viewport: PHONE });
  const { page } = visitor;
  await newBusiness(visitor, "Required");
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
  await check(page, "two-factor-required");
  isRequired = false;
  await setUp(page);
  await heading(page, "Orders");
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
});

test("a person of the staff logs in with a code, and an administrator resets it", async () => {
  const person = await visit(browser);
  const { page } = person;
  const { id, email } = await newAdministrator(page);
  await chooseOfAccount(page, "Your account");
  await heading(page, "Your account");
  await page.getByRole("button", { name: "Set up" }).click();
  const { secret } = await setUp(page);
  await check(page, "operator-two-factor");

  await chooseOfAccount(page, "Log out");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Your account");

  const response = await fetch(`${new URL(page.url()).origin}/v1/operator/staff/${id}/second-factor`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${process.env.OPERATOR_TOKEN}` },
  });
  expect(response.status).toBe(204);
  await page.reload();
  await logIn(page, email, PASSWORD);
  await page.getByRole("button", { name: "Set up" }).waitFor();
  expect(person.errors).toEqual([]);
  await person.context.close();
});
