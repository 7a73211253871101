// One person in several businesses: joining with an account, and switching.

import type { Page } from "@playwright/test";
import { ask, type Caller, newBusiness, newTeam, PASSWORD } from "../support/business";
import { mailedLink } from "../support/mails";
import { check } from "../support/page-checks";
import { goTo, heading, rowsOf } from "../support/pages";
import { DESKTOP, expect, PHONE, screenshot, test } from "../support/test";

/** Asha has a business of her own, and Ravi another one that invites her as an owner. */
async function invite(asha: Caller, ravi: Caller): Promise<{ email: string; link: string }> {
  const { email } = await newBusiness(asha, "Asha Weaves");
  await newTeam(ravi, "Ravi Traders");
  await ask(ravi, "POST", "/invitations", { email, role: "owner" }, 201);
  return { email, link: await mailedLink(email, "invitation") };
}

async function openMenu(page: Page, email: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).click();
  await expect(page.getByRole("menu")).toBeVisible();
}

/** Waits until the page shows this business. */
async function isIn(page: Page, businessName: string): Promise<void> {
  await expect(page.getByRole("button", { name: /^Account: / }).getByText(businessName)).toBeVisible();
}

test("a person with an account joins by the mailed link, and switches with the keyboard", async ({
  page,
  request,
  visit,
}) => {
  const { email, link } = await invite(await visit(), { request });
  await page.goto(link);
  await heading(page, "Join Ravi Traders");
  await check(page, "join-log-in", { bothSizes: true });
  await page.getByLabel("Password", { exact: true }).fill("not the secret");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByText("You are logged in as")).toBeVisible();
  await check(page, "join-logged-in", { bothSizes: true });
  await page.getByRole("button", { name: "Join" }).click();
  await heading(page, "Overview");
  const account = page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) });
  await isIn(page, "Ravi Traders");

  await account.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitemradio", { name: /Ravi Traders/, checked: true })).toBeVisible();
  await check(page, "business-menu-desktop");
  const home = page.getByRole("menuitemradio", { name: /Asha Weaves/, checked: false });
  const reached = () => home.evaluate((element) => element === document.activeElement);
  for (let presses = 0; presses < 10 && !(await reached()); presses += 1)
    await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await isIn(page, "Asha Weaves");
  await heading(page, "Overview");

  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "Navigation" }).click();
  await openMenu(page, email);
  await check(page, "business-menu-phone");
  await page.getByRole("menuitemradio", { name: /Ravi Traders/ }).click();
  await heading(page, "Overview");
  await page.setViewportSize(DESKTOP);
  await isIn(page, "Ravi Traders");
  // The first browser is at home, and the list names the business of each session.
  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  await expect(page.getByRole("table", { name: "Sessions" }).getByText("Asha Weaves")).toBeVisible();
  await screenshot(page, "sessions-of-businesses");
});

test("a tab of the former business changes nothing in the present one, and follows", async ({
  page: former,
  request,
}) => {
  const { link } = await invite(former, { request });
  await former.goto("/account");
  const name = former.getByLabel("Name of the business");
  await name.fill("Renamed by the former tab");
  // This tab cannot notice the switch by itself.
  await former.route("**/v1/portal/session", (route) => route.abort());
  await former.route("**/stream*", (route) => route.abort());
  const tab = await former.context().newPage();
  await tab.goto(link);
  await expect(tab.getByText("You are logged in as")).toBeVisible();
  await tab.getByRole("button", { name: "Join" }).click();
  await isIn(tab, "Ravi Traders");

  const refused = former.waitForResponse((response) => response.url().endsWith("/v1/portal/business"));
  await former.getByRole("button", { name: "Rename business" }).click();
  expect((await refused).status()).toBe(409);
  await former.unroute("**/v1/portal/session");
  await former.bringToFront();
  await former.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await isIn(former, "Ravi Traders");
  await heading(former, "Account");
  await expect(name).toHaveValue("Ravi Traders");
});

test("a person adds a business of their own", async ({ page }) => {
  const { email } = await newBusiness(page, "First Shop");
  await page.goto("/");
  await openMenu(page, email);
  await page.getByRole("menuitem", { name: "Add a business" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a business" });
  await dialog.getByRole("button", { name: "Add business" }).click();
  await expect(dialog.getByText("Enter the name of the business.")).toBeVisible();
  await check(page, "add-business", { bothSizes: true });
  await dialog.getByLabel("Business name").fill("Second Shop");
  await dialog.getByRole("button", { name: "Add business" }).click();
  await isIn(page, "Second Shop");
  await goTo(page, "Orders");
  await openMenu(page, email);
  await page.getByRole("menuitemradio", { name: /First Shop/ }).click();
  await isIn(page, "First Shop");
});
