// Passkeys of users and of the operator's staff, with an authenticator of the browser.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { codeOf } from "../support/authenticator";
import { PHONE, visit } from "../support/browser";
import { joinStaff, newConfirmed, PASSWORD } from "../support/business";
import { check, settled, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading, logIn, NOT_RECENT, refuse } from "../support/pages";
import { stack } from "../support/stack";
import { addAuthenticator, byName } from "../support/virtual-authenticator";

/** Sets up an app. Returns its secret. */
async function setUpApp(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Set up" }).click();
  const secret = (await page.getByRole("status", { name: "Secret for your app" }).textContent()) ?? "";
  await page.getByLabel("Code from your app").fill(codeOf(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByRole("button", { name: "I have stored them" }).click();
  return secret;
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await dialog.getByLabel("Name").fill(name);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await passkeys(page).filter({ hasText: name }).waitFor();
}

function passkeys(page: Page) {
  return page.getByRole("list", { name: "Passkeys" }).getByRole("listitem");
}

test("a user adds a passkey, logs in with it, confirms with it and removes it", async () => {
  const visitor = await visit({ baseURL: byName(stack.portal), viewport: PHONE });
  const { page } = visitor;
  const { email } = await newConfirmed(visitor, "Passkeys");
  const device = await addAuthenticator(page);
  await page.goto("/account");
  const secret = await setUpApp(page);
  await device.setVerified(false);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("Enter a name.").waitFor();
  await dialog.getByLabel("Name").fill("Work laptop");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("No passkey was used.").waitFor();
  await check(page, "passkey-cancelled", { bothSizes: true, isWaiting: true });
  await device.setVerified(true);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.waitFor({ state: "hidden" });
  await passkeys(page).filter({ hasText: "Work laptop" }).getByText("never used").waitFor();
  expect(await device.credentials()).toBe(1);
  await check(page, "passkeys", { bothSizes: true });

  await visitor.context.clearCookies();
  await page.goto("/log-in?next=%2Faccount");
  await logIn(page, email, PASSWORD);
  await heading(page, "Confirm it’s you");
  await page.locator("button:focus", { hasText: "Use a passkey" }).waitFor();
  await check(page, "passkey-log-in", { bothSizes: true });
  await device.setVerified(false);
  await page.keyboard.press("Enter");
  await page.getByText("No passkey was used.").waitFor();
  await check(page, "passkey-log-in-cancelled", { bothSizes: true });
  await device.setVerified(true);
  await tabTo(page, "button", "Use a passkey");
  await page.keyboard.press("Enter");
  await passkeys(page).filter({ hasText: "Work laptop" }).getByText("last used").waitFor();

  await refuse(page, "**/v1/portal/second-factor/passkeys/psk_*", "DELETE", NOT_RECENT);
  await page.getByRole("button", { name: "Remove Work laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  await question.locator("button:focus", { hasText: "Use a passkey" }).waitFor();
  await check(page, "passkey-confirm", { bothSizes: true, isWaiting: true });
  await question.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("The passkey is removed.").waitFor();
  expect(await passkeys(page).count()).toBe(0);

  await visitor.context.clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.keyboard.press("Enter");
  await heading(page, "Overview");
});

test("a code still works for people who have a passkey", async () => {
  const visitor = await visit({ baseURL: byName(stack.portal) });
  const { page } = visitor;
  const { email } = await newConfirmed(visitor, "Codes");
  await addAuthenticator(page);
  await page.goto("/account");
  const secret = await setUpApp(page);
  await addPasskey(page, "Phone");
  await visitor.context.clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await page.getByLabel("Code from your app").fill("000000");
  await page.keyboard.press("Enter");
  await page.getByText("The code is wrong").waitFor();
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Overview");
});

test("a person of the staff adds a passkey and logs in with it", async () => {
  const visitor = await visit({ baseURL: byName(stack.console) });
  const { page } = visitor;
  const { email } = await joinStaff(visitor, "Asha Rao");
  await addAuthenticator(page);
  await page.goto("/operator/account");
  await heading(page, "Your account");
  await setUpApp(page);
  await addPasskey(page, "Security key");
  await check(page, "operator-passkeys", { bothSizes: true });
  await chooseOfAccount(page, "Log out");
  await logIn(page, email, PASSWORD);
  await check(page, "operator-passkey-log-in", { bothSizes: true });
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await heading(page, "Your account");
});

test("a page at another address names the one that has passkeys", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await newConfirmed(visitor, "By number");
  await page.goto("/account");
  await setUpApp(page);
  await page.getByText(`To use passkeys, open ${byName(stack.portal)}.`).waitFor();
  expect(await page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
  // An installation at an IP address.
  await page.route("**/v1/portal/second-factor", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), passkeyOrigin: null } });
  });
  await page.reload();
  await page.getByRole("button", { name: "New recovery codes" }).waitFor();
  await settled(page);
  expect(await page.getByText("Passkeys", { exact: true }).count()).toBe(0);
});
