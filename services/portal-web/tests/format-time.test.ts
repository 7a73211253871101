// Times in the time zone of the region, which is India's by default.

import { expect, test } from "@playwright/test";
import {
  formatClock,
  formatDate,
  formatExact,
  formatRelative,
  formatTime,
  zoneName,
} from "../src/format/time";

/** Versions of the locale data differ in their spaces. */
const plain = (text: string) => text.replace(/\s/g, " ");

test("a day begins at 18:30 UTC", () => {
  const [last, first] = ["2026-01-31T18:29:59Z", "2026-01-31T18:30:00Z"];
  expect([last, first].map(formatDate).map(plain)).toEqual(["31 Jan 2026", "1 Feb 2026"]);
  expect([last, first].map(formatTime).map(plain)).toEqual(["31 Jan 2026, 11:59 pm", "1 Feb 2026, 12:00 am"]);
  expect(plain(formatExact(first))).toBe("1 Feb 2026, 12:00:00 am IST");
  expect(plain(formatClock(first))).toBe("12:00:00 am");
  expect(plain(formatRelative(first, Date.parse(first) + 8 * 86_400_000))).toBe("1 Feb 2026");
  expect(zoneName()).toBe("IST");
});
