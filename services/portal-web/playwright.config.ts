import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import { DESKTOP } from "./tests/support/sizes";

/** The first of these that is installed. Playwright downloads no browser of its own. */
const CHROMIUM = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** Page tests in a real browser, against the stack of `make test`: see tests/support/stack.ts. */
export default defineConfig({
  testDir: "tests",
  testMatch: "**/*.test.ts",
  outputDir: "../../target/failed-pages",
  reporter: "list",
  // All files share one stack. Two browsers keep two cores busy: three took as long.
  workers: 2,
  timeout: 120_000,
  // Long enough for two busy cores and for what arrives later, such as mails and webhooks.
  expect: { timeout: 30_000, toPass: { timeout: 30_000, intervals: [100] } },
  use: {
    baseURL: process.env.PORTAL,
    actionTimeout: 15_000,
    navigationTimeout: 15_000,
    viewport: DESKTOP,
    colorScheme: "light",
    timezoneId: "Asia/Kolkata",
    locale: "en-IN",
    permissions: ["clipboard-write"],
    // Nothing moves, so that axe and pictures see what stays.
    contextOptions: { reducedMotion: "reduce" },
    // Recording takes half as long again.
    trace: process.env.TRACE ? "retain-on-failure" : "off",
    // Containers have no sandbox and little shared memory.
    launchOptions: { executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] },
  },
});
