// Keyboard use, the size of a first visit, and layout shifts.

import type { Page } from "@playwright/test";
import { placeOrder } from "./support/api";
import { newBusiness, newTestKey, PASSWORD, someone } from "./support/business";
import { settled, tabTo, watchShifts } from "./support/page-checks";
import { heading, row } from "./support/pages";
import { expect, PHONE, test } from "./support/test";

const FIRST_LOAD_KIB = 250;
const SHIFT_MAX = 0.1;

test("a user signs up, creates a key and reads an order by keyboard alone", async ({ page }) => {
  const { email } = someone("keyboard");
  await page.goto("/log-in");
  await tabTo(page, "link", "Create an account");
  await page.keyboard.press("Enter");
  await heading(page, "Create your account");
  for (const [field, value] of [
    ["Business name", "Keyboard"],
    ["Work e-mail", email],
    ["Password", PASSWORD],
  ] as const) {
    await tabTo(page, "textbox", field);
    await page.keyboard.type(value);
  }
  await page.keyboard.press("Enter");
  await heading(page, "Overview");

  await press(page, "link", "API keys");
  await heading(page, "API keys");
  await press(page, "button", "Create key");
  await expect(page.getByRole("dialog", { name: "Create an API key" })).toBeVisible();
  await tabTo(page, "textbox", "Name");
  await page.keyboard.type("shop");
  await page.keyboard.press("Enter");
  const shown = page.getByRole("dialog", { name: "Your Test key" });
  const key = (await shown.getByRole("status", { name: "Your Test key" }).textContent()) ?? "";
  await page.keyboard.press("Escape");
  await tabTo(page, "button", "I have stored it");
  await page.keyboard.press("Enter");
  await expect(shown).toBeHidden();
  await placeOrder(key, "typed-1");

  await press(page, "link", "Orders");
  await expect(row(page, "Test orders", "typed-1")).toBeVisible();
  await press(page, "link", "typed-1");
  await heading(page, "typed-1");
  await press(page, "button", "Driver assigned");
  await expect(page.getByRole("status", { name: "Status" }).getByText("Driver assigned")).toBeVisible();
  await press(page, "button", "Cancel order");
  const question = page.getByRole("dialog", { name: "Cancel this order?" });
  await expect(question).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  await expect(page.getByRole("button", { name: "Cancel order" })).toBeFocused();
});

test("the skip link leads past the navigation", async ({ page }) => {
  await newBusiness(page, "Skipper");
  await page.goto("/orders");
  await heading(page, "Orders");
  await tabTo(page, "link", "Skip to content");
  await page.keyboard.press("Enter");
  await expect(page.locator("main:focus")).toBeVisible();
});

test("a first visit transfers at most 250 KiB of script", async ({ page }) => {
  await page.goto("/log-in");
  await heading(page, "Log in");
  const scripts = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
      .filter(({ name }) => new URL(name).pathname.endsWith(".js"))
      .map(({ encodedBodySize }) => encodedBodySize),
  );
  const kib = scripts.reduce((sum, bytes) => sum + bytes, 0) / 1024;
  expect(kib).toBeGreaterThan(10);
  expect(kib).toBeLessThanOrEqual(FIRST_LOAD_KIB);
});

test("overview and orders do not shift while they load", async ({ page, visit }) => {
  await newBusiness(page, "Steady");
  const key = await newTestKey(page);
  for (const reference of ["steady-1", "steady-2", "steady-3"]) await placeOrder(key, reference);
  const storageState = await page.context().storageState();
  for (const window of [page, await visit({ viewport: PHONE, storageState })]) {
    const shifts = await watchShifts(window);
    for (const [path, title] of [
      ["/", "Overview"],
      ["/orders", "Orders"],
    ] as const) {
      await window.goto(path);
      await heading(window, title);
      await settled(window);
      expect({ path, isSteady: (await shifts()) <= SHIFT_MAX, shifts: await shifts() }).toMatchObject({
        isSteady: true,
      });
    }
  }
});

async function press(page: Page, role: "link" | "button", name: string): Promise<void> {
  await tabTo(page, role, name);
  await page.keyboard.press("Enter");
}
