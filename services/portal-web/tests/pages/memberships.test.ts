// One person in several businesses: joining with an account, and switching.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { DESKTOP, PHONE, screenshot, type Visitor, visit } from "../support/browser";
import { ask, newBusiness, newTeam, PASSWORD } from "../support/business";
import { mailedLink } from "../support/mails";
import { check } from "../support/page-checks";
import { goTo, heading, rowsOf } from "../support/pages";

/** Asha with a business of her own, and Ravi with another one that invites her as an owner. */
async function invited(): Promise<{ asha: Visitor; email: string; link: string }> {
  const [asha, ravi] = [await visit(), await visit()];
  const { email } = await newBusiness(asha, "Asha Weaves");
  await newTeam(ravi, "Ravi Traders");
  await ask(ravi, "POST", "/invitations", { email, role: "owner" }, 201);
  return { asha, email, link: await mailedLink(email, "invitation") };
}

async function openMenu(page: Page, email: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).click();
  await page.getByRole("menu").waitFor();
}

/** Waits until the page shows this business. */
async function isIn(page: Page, businessName: string): Promise<void> {
  await page
    .getByRole("button", { name: /^Account: / })
    .getByText(businessName)
    .waitFor();
}

test("a person with an account joins by the mailed link, and switches with the keyboard", async () => {
  const { email, link } = await invited();
  const other = await visit();
  const { page } = other;
  await page.goto(link);
  await heading(page, "Join Ravi Traders");
  await check(page, "join-log-in", { bothSizes: true });
  await page.getByLabel("Password", { exact: true }).fill("not the secret");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("You are logged in as").waitFor();
  await check(page, "join-logged-in", { bothSizes: true });
  await page.getByRole("button", { name: "Join" }).click();
  await heading(page, "Overview");
  const account = page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) });
  await isIn(page, "Ravi Traders");

  await account.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitemradio", { name: /Ravi Traders/, checked: true }).waitFor();
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
  await page.getByRole("table", { name: "Sessions" }).getByText("Asha Weaves").waitFor();
  await screenshot(page, "sessions-of-businesses");
});

test("a tab of the former business changes nothing in the present one, and follows", async () => {
  const { asha, link } = await invited();
  const former = asha.page;
  await former.goto("/account");
  const name = former.getByLabel("Name of the business");
  await name.fill("Renamed by the former tab");
  // This tab cannot notice the switch by itself.
  await former.route("**/v1/portal/session", (route) => route.abort());
  await former.route("**/stream*", (route) => route.abort());
  const tab = await asha.context.newPage();
  await tab.goto(link);
  await tab.getByText("You are logged in as").waitFor();
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
  expect(await name.inputValue()).toBe("Ravi Traders");
});

test("a person adds a business of their own", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "First Shop");
  await page.goto("/");
  await openMenu(page, email);
  await page.getByRole("menuitem", { name: "Add a business" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a business" });
  await dialog.getByRole("button", { name: "Add business" }).click();
  await dialog.getByText("Enter the name of the business.").waitFor();
  await check(page, "add-business", { bothSizes: true });
  await dialog.getByLabel("Business name").fill("Second Shop");
  await dialog.getByRole("button", { name: "Add business" }).click();
  await isIn(page, "Second Shop");
  await goTo(page, "Orders");
  await openMenu(page, email);
  await page.getByRole("menuitemradio", { name: /First Shop/ }).click();
  await isIn(page, "First Shop");
});
