import { mkdirSync } from "node:fs";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { launchChromium } from "./chromium";
import { stack } from "./stack";

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** Long enough for two busy cores, and short enough to fail soon. */
const TIMEOUT_MS = 15_000;

/** The worker's Chromium, which all of its test files share. */
let browser: Promise<Browser> | undefined;

/** A separate browser window, and its errors. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** The origin of relative addresses. */
  origin: string;
  /** Errors of the pages' code, and violations of the content security policy. A test fails if there are any. */
  errors: string[];
}

/** Of the whole test file, and of the running test. */
const visitors = { ofFile: new Set<Visitor>(), ofTest: new Set<Visitor>() };
let isInTest = false;

/** Called once per test file. Closes windows when the test, or the file, that opened them ends. */
export function superviseVisitors(): void {
  beforeEach(() => {
    isInTest = true;
  });
  afterEach(async () => {
    isInTest = false;
    const errors = [...visitors.ofFile, ...visitors.ofTest].flatMap((visitor) => visitor.errors.splice(0));
    await close(visitors.ofTest);
    expect(errors).toEqual([]);
  });
  afterAll(() => close(visitors.ofFile));
}

async function close(some: Set<Visitor>): Promise<void> {
  await Promise.all([...some].map(({ context }) => context.close()));
  some.clear();
}

export async function visit(
  options: {
    baseURL?: string;
    viewport?: typeof DESKTOP;
    colorScheme?: "light" | "dark";
    timezoneId?: string;
    locale?: string;
  } = {},
): Promise<Visitor> {
  browser ??= launchChromium();
  const origin = options.baseURL ?? stack.portal;
  const context = await (await browser).newContext({
    baseURL: origin,
    viewport: options.viewport ?? DESKTOP,
    colorScheme: options.colorScheme ?? "light",
    // Nothing moves, so that axe and pictures see what stays.
    reducedMotion: "reduce",
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
  const visitor = { page, context, origin, errors };
  (isInTest ? visitors.ofTest : visitors.ofFile).add(visitor);
  return visitor;
}

/** The browser has one clipboard for all windows, so a page reports what it has written there itself. */
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
