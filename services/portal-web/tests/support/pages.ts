import type { Locator, Page } from "playwright-core";
import { PASSWORD, PICKUP_PROFILE, someone } from "./business";
import { stack } from "./stack";
import { until } from "./until";

/** By the side bar, as somebody goes through the portal. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  await heading(page, name);
}

export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

/** Signs up by the page; ends on the overview. */
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
  await page.getByRole("button", { name: "Log in" }).click();
}

export async function logInAsOperator(page: Page): Promise<void> {
  await page.goto("/operator");
  await page.getByLabel("Operator token").fill(stack.operatorToken);
  await page.getByRole("button", { name: "Log in" }).click();
  await heading(page, "Businesses");
}

/** Opens a business in the operator's console, found by what it alone has. */
export async function openBusiness(page: Page, search: string, name: string): Promise<void> {
  await page.getByLabel("Find a business").fill(search);
  await rowsOf(page, "Businesses", 1);
  await page.getByRole("table", { name: "Businesses" }).getByRole("link", { name, exact: true }).click();
  await heading(page, name);
}

/** Takes a secret that is shown this once: copies it, and says that it is stored. */
export async function takeSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole("dialog", { name: title });
  const secret = await dialog.getByRole("status", { name: title }).textContent();
  await dialog.getByRole("button", { name: /^Copy the / }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (!secret || copied !== secret) throw new Error("what was copied is not what is shown");
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await dialog.waitFor({ state: "hidden" });
  return secret;
}

/** Creates a key on the page of keys. */
export async function createKey(page: Page, mode: "Test" | "Live", name: string): Promise<string> {
  await page.getByRole("button", { name: "Create key" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByRole("radiogroup", { name: "Mode" }).getByText(mode, { exact: true }).click();
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create key" }).click();
  return takeSecret(page, `Your ${mode} key`);
}

/** A table's row, or the body of them all, by the words in it. */
export function row(page: Page, table: string, words: string): Locator {
  return page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: words });
}

/** Waits until the table has read what it shows, and has so many rows below its head. */
export async function rowsOf(page: Page, table: string, count: number): Promise<void> {
  const body = page.getByRole("table", { name: table }).and(page.locator(":not([aria-busy=true])"));
  await until(`${table} has ${count} rows`, async () => (await body.locator("tbody tr").count()) === count);
}

/** The value of one of the seven indicators, once it has this label. */
export async function indicator(page: Page, name: string, label: string): Promise<void> {
  const cell = page
    .getByRole("region", { name: "Status indicators" })
    .locator("div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) });
  await cell.locator("dd", { hasText: new RegExp(`^${label}$`) }).waitFor();
}

/** What a name of a list of facts stands for. */
export function fact(section: Locator, name: string): Locator {
  return section
    .locator("dt", { hasText: new RegExp(`^${name}$`) })
    .locator("xpath=following-sibling::dd[1]");
}

/** Every field without which nothing can be picked up. It is not saved yet. */
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
