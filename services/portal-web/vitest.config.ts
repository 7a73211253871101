import { defineConfig } from "vitest/config";

/** Page tests in a real browser, against the stack of `make test`: see tests/support/stack.ts. */
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "tests/support/chromium.ts",
    setupFiles: "tests/support/visitors.ts",
    // Files share the worker's modules and its connection to Chromium.
    isolate: false,
    // All files share one stack; two cores can run two browsers.
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
