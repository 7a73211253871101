// Shares are rounded, and never to the whole.
import { expect, test } from "@playwright/test";
import { formatShare } from "../src/format/percent";

test("a share is rounded, but 100 % is the whole", () => {
  const shares: [part: number, whole: number, text: string][] = [
    [172, 238, "72.3 %"],
    [1, 3, "33.3 %"],
    [1, 2, "50 %"],
    [0, 7, "0 %"],
    [1_999, 2_000, "99.9 %"],
    [2_000, 2_000, "100 %"],
  ];
  for (const [part, whole, text] of shares) expect(formatShare(part, whole)).toBe(text);
});
