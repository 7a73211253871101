import { defineConfig } from "vitest/config";

/** Pages in a real browser, against the stack that `make test` starts: see tests/support/stack.ts. */
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "tests/support/chromium.ts",
    // The shared modules keep no state that could leak from one file to the next, so workers are reused.
    isolate: false,
    // All files share one stack; two cores do not carry more than two browsers.
    maxWorkers: 2,
    minWorkers: 1,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
