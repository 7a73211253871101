import { mkdirSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { inject } from "vitest";
import { stack } from "./stack";

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** Long enough for two busy cores, and short enough to fail soon. */
const TIMEOUT_MS = 15_000;

/** Connects to the Chromium that all test files share. Closing the connection closes only its own pages. */
export function openBrowser(): Promise<Browser> {
  return chromium.connect(inject("chromium"));
}

/** A separate browser window, and its errors. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Errors of the pages' code, and violations of the content security policy. */
  errors: string[];
}

export async function visit(
  browser: Browser,
  options: {
    baseURL?: string;
    viewport?: typeof DESKTOP;
    colorScheme?: "light" | "dark";
    timezoneId?: string;
    locale?: string;
  } = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL: options.baseURL ?? stack.portal,
    viewport: options.viewport ?? DESKTOP,
    colorScheme: options.colorScheme ?? "light",
    timezoneId: options.timezoneId ?? "Asia/Kolkata",
    locale: options.locale ?? "en-IN",
    permissions: ["clipboard-write"],
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  await context.addInitScript(reportCopies);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    // The browser logs each failed call. Pages are expected to handle those.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      errors.push(`${page.url()}: ${message.text()}`);
    }
  });
  return { page, context, errors };
}

/** The browser has one clipboard for all test files, so a page reports what it has written there itself. */
function reportCopies(): void {
  const write = navigator.clipboard?.writeText.bind(navigator.clipboard);
  if (!write) return;
  navigator.clipboard.writeText = async (text) => {
    await write(text);
    window.dispatchEvent(new CustomEvent("copied", { detail: text }));
  };
}

/** Clicks a copy button. Returns what the page has copied. */
export async function copyWith(page: Page, button: Locator): Promise<string> {
  const copied = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const take = (event: Event) => resolve((event as CustomEvent<string>).detail);
        window.addEventListener("copied", take, { once: true });
      }),
  );
  await button.click();
  return copied;
}

/** The folder for screenshots, which stay out of git. Without it, none are taken. */
const folder = process.env.SCREENSHOTS;
export const keepsScreenshots = folder !== undefined;

export async function screenshot(page: Page, name: string): Promise<void> {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
