import type { Locator, Page } from "@playwright/test";
import { type Business, PASSWORD, PICKUP_PROFILE, someone } from "./business";
import { stack } from "./stack";
import { copyWith, expect } from "./test";

/** Opens a page by the side bar. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  await heading(page, name);
}

/** Like a click on a link to this page. */
export function follow(page: Page, path: string): Promise<unknown> {
  return page.evaluate((to) => {
    history.pushState(null, "", to);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}

export async function heading(page: Page, name: string): Promise<void> {
  await expect(page.getByRole("heading", { level: 1, name, exact: true })).toBeVisible();
}

/** Signs up by the page, up to the overview. */
export async function signUp(page: Page, businessName: string): Promise<string> {
  const { email } = someone(businessName);
  await page.goto("/sign-up");
  await page.getByLabel("Business name").fill(businessName);
  await page.getByLabel("Work e-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await heading(page, "Overview");
  return email;
}

export async function logIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

/** Logs in to the console by its form. */
export async function logInWithToken(page: Page): Promise<void> {
  await page.goto("/operator");
  await page.getByRole("button", { name: "Log in with the installation token" }).click();
  await page.getByLabel("Installation token").fill(stack.operatorToken);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await heading(page, "Overview");
}

/** Opens the menu with the name of who is logged in to the console, and chooses an entry. */
export async function chooseOfAccount(page: Page, entry: string): Promise<void> {
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
}

/**
 * Plays refusals that the local stack never gives: the first `times` calls of this method fail with this answer. Returns
 * their number.
 */
export async function refuse(
  page: Page,
  calls: string,
  method: string,
  { status, ...body }: { status: number; code: string; message: string; [field: string]: unknown },
  times = 1,
): Promise<() => number> {
  let refusals = 0;
  await page.route(calls, (route) => {
    if (route.request().method() !== method || refusals === times) return route.fallback();
    refusals += 1;
    return route.fulfill({ status, json: { ...body, requestId: "x" } });
  });
  return () => refusals;
}

export const NOT_RECENT = {
  status: 403,
  code: "recent_authentication_required",
  message: "Confirm that it is you.",
};

/** Sets the password with a link to the console, and logs in. */
export async function joinStaffBy(page: Page, link: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Choose a password").fill(PASSWORD);
  if (page.url().includes("token=")) throw new Error("the address still contains the token");
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("link", { name: "Log in" }).click();
  await logIn(page, email, PASSWORD);
  await heading(page, "Overview");
}

/** Opens a business in the operator's console. */
export async function openBusiness(page: Page, { id, name }: Business): Promise<void> {
  await page.goto(`/operator/businesses/${id}`);
  await heading(page, name);
}

/** Takes a secret that is shown once: copies it, and confirms that it is stored. */
export async function takeSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole("dialog", { name: title });
  const secret = await dialog.getByRole("status", { name: title }).textContent();
  const copied = await copyWith(page, dialog.getByRole("button", { name: /^Copy the / }));
  if (!secret || copied !== secret) throw new Error("the copied secret differs from the shown one");
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await expect(dialog).toBeHidden();
  return secret;
}

/** Creates a key on the API keys page. */
export async function createKey(page: Page, mode: "Test" | "Live", name: string): Promise<string> {
  await page.getByRole("button", { name: "Create key" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByRole("radiogroup", { name: "Mode" }).getByText(mode, { exact: true }).click();
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create key" }).click();
  return takeSecret(page, `Your ${mode} key`);
}

/** The rows of a table that contain these words. */
export function row(page: Page, table: string, words: string): Locator {
  return page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: words });
}

/** Waits until the table is loaded and has this number of rows below its header. */
export async function rowsOf(page: Page, table: string, count: number): Promise<void> {
  const body = page.getByRole("table", { name: table }).and(page.locator(":not([aria-busy=true])"));
  await expect(body.locator("tbody tr"), `the rows of ${table}`).toHaveCount(count);
}

/** The height of the tallest row of a list on a phone, in pixels. */
export async function tallestRow(page: Page, list: string): Promise<number> {
  const rows = page.getByRole("list", { name: list, exact: true }).getByRole("listitem");
  await expect(rows.first()).toBeVisible();
  return Math.max(...(await rows.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))));
}

/** Waits until one of the seven indicators has this label. */
export async function indicator(page: Page, name: string, label: string): Promise<void> {
  const cell = page
    .getByRole("region", { name: "Status indicators" })
    .locator("div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) });
  await expect(cell.locator("dd", { hasText: new RegExp(`^${label}$`) })).toBeVisible();
}

/** The value of a name in a list of facts. */
export function fact(section: Locator, name: string): Locator {
  return section
    .locator("dt", { hasText: new RegExp(`^${name}$`) })
    .locator("xpath=following-sibling::dd[1]");
}

/** The value of a key figure. */
export function figure(section: Locator, name: string): Locator {
  return section
    .locator("dt", { hasText: new RegExp(`^${name}$`) })
    .locator("xpath=following-sibling::dd[1]");
}

/** Fills in all required fields, without saving. */
export async function fillPickupProfile(page: Page): Promise<void> {
  const fields = {
    "Business name": PICKUP_PROFILE.businessName,
    Contact: PICKUP_PROFILE.contactName,
    Phone: PICKUP_PROFILE.phone,
    "Address line 1": PICKUP_PROFILE.addressLine1,
    City: PICKUP_PROFILE.city,
    "PIN code": PICKUP_PROFILE.pincode,
  };
  for (const [label, value] of Object.entries(fields)) {
    await page.getByRole("textbox", { name: label, exact: true }).fill(value);
  }
  await page.getByRole("combobox", { name: "State" }).fill(PICKUP_PROFILE.state);
  await page.getByRole("combobox", { name: "State" }).press("Tab");
}

/** Opens an invitation's link, chooses a password, and ends on the overview. */
export async function joinBy(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Choose a password").fill(PASSWORD);
  if (page.url().includes("token=")) throw new Error("the address still contains the token");
  await page.getByRole("button", { name: "Join" }).click();
  await heading(page, "Overview");
}
