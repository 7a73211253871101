import { defineConfig } from "vitest/config";

/** Pages in a real browser, against the stack that `make test` starts: see tests/support/stack.ts. */
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // One browser and one stack serve all of them; two cores do not carry more.
    fileParallelism: false,
    maxConcurrency: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
