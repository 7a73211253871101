import { mkdirSync } from "node:fs";
import { type BrowserContextOptions, test as base, expect, type Locator, type Page } from "@playwright/test";

interface OfTest {
  /** Opens another browser window, with a session of its own, that closes when the test ends. */
  visit: (options?: BrowserContextOptions) => Promise<Page>;
  /** A test fails if a page logs an error. */
  errorFree: undefined;
}

interface OfWorker {
  /** Errors of the pages' code, and violations of the content security policy, in all windows. */
  errors: string[];
}

/** Answers that a test plays may still be on their way when it ends. */
async function endRoutes(page: Page): Promise<void> {
  if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
}

export const test = base.extend<OfTest, OfWorker>({
  errors: [
    async ({ browser }, use) => {
      const errors: string[] = [];
      browser.on("context", (context) => {
        context.on("weberror", (found) => errors.push(`${found.page()?.url()}: ${found.error().message}`));
        context.on("console", (message) => {
          // The browser logs each failed call. Pages are expected to handle those.
          if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
            errors.push(`${message.page()?.url()}: ${message.text()}`);
          }
        });
      });
      await use(errors);
    },
    { scope: "worker", auto: true },
  ],
  errorFree: [
    async ({ errors }, use) => {
      await use(undefined);
      expect(errors.splice(0)).toEqual([]);
    },
    { auto: true },
  ],
  page: async ({ page }, use) => {
    await use(page);
    await endRoutes(page);
  },
  visit: async ({ browser }, use) => {
    const opened: Page[] = [];
    await use(async (options) => {
      const page = await (await browser.newContext(options)).newPage();
      opened.push(page);
      return page;
    });
    for (const page of opened) {
      await endRoutes(page);
      await page.context().close();
    }
  },
});

/** Clicks a copy button. Returns what the page has copied. */
export async function copyWith(page: Page, button: Locator): Promise<string> {
  // The browser has one clipboard for all windows, so that the page itself reports what it writes there.
  const copied = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const write = Clipboard.prototype.writeText.bind(navigator.clipboard);
        navigator.clipboard.writeText = async (text) => {
          await write(text);
          resolve(text);
        };
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

export { DESKTOP, PHONE } from "./sizes";
export { expect };
