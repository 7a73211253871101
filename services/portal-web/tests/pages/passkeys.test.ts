// Passkeys of users and of the operator's staff, with an authenticator of the browser.

import type { Page } from "@playwright/test";
import { codeOf } from "../support/authenticator";
import { joinStaff, newConfirmed, PASSWORD } from "../support/business";
import { check, settled, tabTo } from "../support/page-checks";
import { chooseOfAccount, heading, logIn, NOT_RECENT, refuse } from "../support/pages";
import { stack } from "../support/stack";
import { expect, PHONE, test } from "../support/test";
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
  await expect(dialog).toBeHidden();
  await expect(passkeys(page).filter({ hasText: name })).toBeVisible();
}

function passkeys(page: Page) {
  return page.getByRole("list", { name: "Passkeys" }).getByRole("listitem");
}

test("a user adds a passkey, logs in with it, confirms with it and removes it", async ({ visit }) => {
  const page = await visit({ baseURL: byName(stack.portal), viewport: PHONE });
  const { email } = await newConfirmed(page, "Passkeys");
  const device = await addAuthenticator(page);
  await page.goto("/account");
  const secret = await setUpApp(page);
  await device.setVerified(false);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a passkey" });
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog.getByText("Enter a name.")).toBeVisible();
  await dialog.getByLabel("Name").fill("Work laptop");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog.getByText("No passkey was used.")).toBeVisible();
  await check(page, "passkey-cancelled", { bothSizes: true, isWaiting: true });
  await device.setVerified(true);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog).toBeHidden();
  await expect(passkeys(page).filter({ hasText: "Work laptop" }).getByText("never used")).toBeVisible();
  expect(await device.credentials()).toBe(1);
  await check(page, "passkeys", { bothSizes: true });

  await page.context().clearCookies();
  await page.goto("/log-in?next=%2Faccount");
  await logIn(page, email, PASSWORD);
  await heading(page, "Confirm it’s you");
  await expect(page.locator("button:focus", { hasText: "Use a passkey" })).toBeVisible();
  await check(page, "passkey-log-in", { bothSizes: true });
  await device.setVerified(false);
  await page.keyboard.press("Enter");
  await expect(page.getByText("No passkey was used.")).toBeVisible();
  await check(page, "passkey-log-in-cancelled", { bothSizes: true });
  await device.setVerified(true);
  await tabTo(page, "button", "Use a passkey");
  await page.keyboard.press("Enter");
  await expect(passkeys(page).filter({ hasText: "Work laptop" }).getByText("last used")).toBeVisible();

  await refuse(page, "**/v1/portal/second-factor/passkeys/psk_*", "DELETE", NOT_RECENT);
  await page.getByRole("button", { name: "Remove Work laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Confirm it’s you" });
  await expect(question.locator("button:focus", { hasText: "Use a passkey" })).toBeVisible();
  await check(page, "passkey-confirm", { bothSizes: true, isWaiting: true });
  await question.getByRole("button", { name: "Use a passkey" }).click();
  await expect(page.getByText("The passkey is removed.")).toBeVisible();
  await expect(passkeys(page)).toHaveCount(0);

  await page.context().clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await heading(page, "Enter your code");
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.keyboard.press("Enter");
  await heading(page, "Overview");
});

test("a code still works for people who have a passkey", async ({ visit }) => {
  const page = await visit({ baseURL: byName(stack.portal) });
  const { email } = await newConfirmed(page, "Codes");
  await addAuthenticator(page);
  await page.goto("/account");
  const secret = await setUpApp(page);
  await addPasskey(page, "Phone");
  await page.context().clearCookies();
  await page.goto("/log-in");
  await logIn(page, email, PASSWORD);
  await page.getByLabel("Code from your app").fill("000000");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The code is wrong")).toBeVisible();
  await page.getByLabel("Code from your app").fill(codeOf(secret, 1));
  await page.getByRole("button", { name: "Continue" }).click();
  await heading(page, "Overview");
});

test("a person of the staff adds a passkey and logs in with it", async ({ visit }) => {
  const page = await visit({ baseURL: byName(stack.console) });
  const { email } = await joinStaff(page, "Asha Rao");
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

test("a page at another address names the one that has passkeys", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await newConfirmed(page, "By number");
  await page.goto("/account");
  await setUpApp(page);
  await expect(page.getByText(`To use passkeys, open ${byName(stack.portal)}.`)).toBeVisible();
  await expect(page.getByRole("button", { name: "Add a passkey" })).toHaveCount(0);
  // An installation at an IP address.
  await page.route("**/v1/portal/second-factor", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), passkeyOrigin: null } });
  });
  await page.reload();
  await expect(page.getByRole("button", { name: "New recovery codes" })).toBeVisible();
  await settled(page);
  await expect(page.getByText("Passkeys", { exact: true })).toHaveCount(0);
});
