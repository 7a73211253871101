import { defineConfig } from "vitest/config";

/** Pages in a real browser, against the stack that `make test` starts: see tests/support/stack.ts. */
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: "tests/support/chromium.ts",
    // Files need no worker of their own: what they share keeps nothing of one file that matters to another.
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
