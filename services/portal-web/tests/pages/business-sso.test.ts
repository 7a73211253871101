// Single sign-on of a business, with a real provider (`oidc-provider`) in the browser: an owner sets it up, and people log in.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { openBrowser, PHONE, screenshot, type Visitor, visit } from "../support/browser";
import { overhang, seriousFindings, settled, tabTo } from "../support/page-checks";
import { heading } from "../support/pages";
import { stack } from "../support/stack";

const EMAIL = "owner-of-sso@shop.example";
const PASSWORD = "correct horse battery";

let browser: Browser;
let provider: ChildProcess | undefined;
let logInPage = "";
let issuer = "";

beforeAll(async () => {
  browser = await openBrowser();
  const { page, context } = await visit(browser, { baseURL: stack.portal });
  const signedUp = await context.request.post("/v1/portal/accounts", {
    data: { businessName: "Shop of single sign-on", email: EMAIL, password: PASSWORD },
  });
  const { businessId } = await signedUp.json();
  await operator("PATCH", `/businesses/${businessId}`, { status: "active" });
  logInPage = `${stack.portal}/log-in/${businessId}`;
  await page.close();
  await context.close();
  const script = new URL("../support/identity-provider.mjs", import.meta.url).pathname;
  provider = spawn(process.execPath, [script, "0", stack.console, logInPage], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  if (!provider.stdout) throw new Error("the provider has no output");
  const [line] = await once(provider.stdout, "data");
  issuer = String(line).trim();
});
afterAll(async () => {
  provider?.kill();
  await browser.close();
});

function portal(viewport?: typeof PHONE): Promise<Visitor> {
  return visit(browser, { baseURL: stack.portal, ...(viewport && { viewport }) });
}

async function logIn(page: Page): Promise<void> {
  await page.goto("/log-in?next=/account/single-sign-on");
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await heading(page, "Account");
}

/** Fills in the provider's pages: log-in, then consent. */
async function authenticate(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  const consent = page.getByRole("button", { name: "Continue" });
  await consent.or(page.locator("#main, main")).first().waitFor();
  if (await consent.isVisible()) await consent.click();
}

async function check(page: Page, name: string): Promise<void> {
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overhang(page)).toBe(0);
  await screenshot(page, name);
}

async function finish(visitor: Visitor): Promise<void> {
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
}

test("an owner sets it up, with errors in words, and tests the provider", async () => {
  const visitor = await portal();
  const { page } = visitor;
  await logIn(page);
  await page.getByText(`${logInPage}/return`).waitFor();
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await page.getByText("Enter the client secret.").waitFor();
  await page.getByLabel("Issuer").fill("https://10.0.0.1");
  await page.getByLabel("Client id").fill("waybill-RS256");
  await page.getByLabel("Client secret").fill("a secret of the provider in tests");
  await page.getByLabel("Scopes").fill("email profile groups");
  await page.getByRole("button", { name: "Add a group" }).click();
  await page.getByLabel("Group 1", { exact: true }).fill("ops");
  await page.getByLabel("Role of group 1").selectOption("developer");
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await page.getByText("issuer must have a public address").waitFor();
  await check(page, "business-sso-error");
  await page.getByLabel("Issuer").fill(issuer);
  await page.getByRole("button", { name: "Turn on single sign-on" }).click();
  await page.getByRole("heading", { name: "Single sign-on is on" }).waitFor();
  await page.getByRole("button", { name: "Test the provider" }).click();
  await page.getByText("The provider answers, and can be used.").waitFor();
  await check(page, "business-sso-settings");
  await page.setViewportSize(PHONE);
  await check(page, "business-sso-settings-phone");
  await finish(visitor);
});

test("a person logs in with the keyboard, comes back, and logs out of both", async () => {
  const visitor = await portal();
  const { page } = visitor;
  await page.goto(`${logInPage}?next=/orders`);
  await check(page, "business-sso-log-in");
  await tabTo(page, "button", "Log in with single sign-on");
  await page.keyboard.press("Enter");
  await authenticate(page, "asha-of-shop");
  await heading(page, "Orders");
  expect(page.url()).toBe(`${stack.portal}/orders`);
  await page.goto("/account");
  await page.getByText("You are logged in with the account of your company.").waitFor();
  expect(await page.getByText("asha-of-shop@operator.example").first().isVisible()).toBe(true);
  expect(await page.getByRole("heading", { name: "Password", exact: true }).count()).toBe(0);
  await check(page, "business-sso-account");
  await page.getByRole("button", { name: "asha-of-shop", exact: false }).first().click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL(logInPage);
  await page.goto("/log-in");
  await page.getByRole("link", { name: "Log in with single sign-on" }).waitFor();
  await check(page, "business-sso-remembered");
  await finish(visitor);
});

test("a person without a group, and one whose password is refused, see why", async () => {
  const visitor = await portal(PHONE);
  const { page } = visitor;
  await page.goto(logInPage);
  await page.getByRole("button", { name: "Log in with single sign-on" }).click();
  await authenticate(page, "binu");
  await heading(page, "You are not logged in");
  await page.getByText("none of its groups has a role here").waitFor();
  await check(page, "business-sso-no-role-phone");
  await page.getByRole("link", { name: "Go to the login" }).click();
  await page.waitForURL(logInPage);
  await page.goto("/log-in");
  await page.route("**/v1/portal/session", (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const body = {
      code: "single_sign_on_required",
      message: "Your business requires single sign-on. Log in with your company account.",
      logInUrl: logInPage,
      requestId: "x",
    };
    return route.fulfill({ status: 403, json: body });
  });
  await page.getByLabel("E-mail").fill("binu@shop.example");
  await page.getByLabel("Password", { exact: true }).fill("battery staple");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByText("Your business requires single sign-on.").waitFor();
  await check(page, "business-sso-required-phone");
  await page.getByRole("link", { name: "Log in with single sign-on" }).click();
  await page.waitForURL(logInPage);
  await finish(visitor);
});
