import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest file first: it would keep one worker busy when the other has nothing left. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith("/accessibility.test.ts");
    return [...files.filter(isLongest), ...files.filter((file) => !isLongest(file))];
  }
}

/** Page tests in a real browser, against the stack of `make test`: see tests/support/stack.ts. */
export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    setupFiles: "tests/support/visitors.ts",
    sequence: { sequencer: LongestFirst },
    // Files share the worker's modules and its Chromium.
    isolate: false,
    // All files share one stack; two cores can run two browsers.
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: ["verbose"],
  },
});
