// Single sign-on of the staff, with a real provider (`oidc-provider`) in the browser.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, PHONE, screenshot, type Visitor, visit } from "../support/browser";
import { COLOUR_RULES, overhang, seriousFindings, settled, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading } from "../support/pages";
import { stack } from "../support/stack";
import { until } from "../support/until";

const BUTTON = "Log in with Delivery ID";

let browser: Browser;
let provider: ChildProcess | undefined;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  provider?.kill();
  await browser.close();
});

async function startProvider(): Promise<void> {
  const script = new URL("../support/identity-provider.mjs", import.meta.url).pathname;
  const { port } = new URL(stack.identityProvider);
  provider = spawn(process.execPath, [script, port, stack.console], { stdio: ["pipe", "pipe", "ignore"] });
  if (provider.stdout) await once(provider.stdout, "data");
}

function staff(viewport?: typeof PHONE): Promise<Visitor> {
  return visit(browser, { baseURL: stack.console, ...(viewport && { viewport }) });
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

async function finish(visitor: Visitor): Promise<void> {
  expect(visitor.errors).toEqual([]);
  await visitor.context.close();
}

test("an unreachable provider is reported, and passwords still work", async () => {
  const visitor = await staff(PHONE);
  const { page } = visitor;
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await page.getByText("The identity provider does not respond.").waitFor();
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overhang(page)).toBe(0);
  await screenshot(page, "sso-unreachable-phone");
  expect(await page.getByLabel("Password", { exact: true }).isVisible()).toBe(true);
  await finish(visitor);
});

test("a person logs in with the provider, comes back to the page, and logs out of both", async () => {
  await startProvider();
  const visitor = await staff();
  const { page, context } = visitor;
  await until("the provider is asked again", async () => {
    const started = await context.request.post(`${stack.console}/v1/operator/sso/log-ins`, {
      data: { purpose: "log_in" },
      headers: { origin: stack.console },
    });
    return started.status() === 201;
  });
  await page.goto("/operator/staff");
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  await screenshot(page, "sso-log-in");
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
  await finish(visitor);
});

test("a sensitive call leads to the provider and back to the page", async () => {
  const visitor = await staff();
  const { page } = visitor;
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: BUTTON }).click();
  await authenticate(page, "asha-of-tokens");
  await heading(page, "Tokens");
  await page.route("**/v1/operator/tokens", (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const body = {
      code: "recent_authentication_required",
      message: "Confirm that it is you.",
      requestId: "x",
    };
    return route.fulfill({ status: 403, json: body });
  });
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill("reports");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  await question.getByText("Log in to your company’s account again.").waitFor();
  // The form below still waits, and the dialog may be fading in.
  expect(await seriousFindings(page, { within: "[role=dialog]", without: COLOUR_RULES })).toEqual([]);
  await screenshot(page, "sso-confirm");
  await question.getByRole("button", { name: "Log in again" }).click();
  await authenticate(page, "asha-of-tokens");
  await page.getByText("Confirmed. Now repeat what you wanted to do.").waitFor();
  await heading(page, "Tokens");
  await finish(visitor);
});

test("a person without a group sees why the log-in is refused", async () => {
  const visitor = await staff(PHONE);
  const { page } = visitor;
  await page.goto("/operator");
  await page.getByRole("button", { name: BUTTON }).click();
  await authenticate(page, "binu");
  await heading(page, "You are not logged in");
  await page.getByText("none of its groups has a role here").waitFor();
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overhang(page)).toBe(0);
  await screenshot(page, "sso-no-role-phone");
  await page.getByRole("link", { name: "Go to the login" }).click();
  await heading(page, "Operator console");
  await page.goto("/operator/sso?state=forged&code=forged");
  await page.getByText("This log-in has expired or was completed before.").waitFor();
  await finish(visitor);
});
