// Which search texts are dates.
import { expect, test } from "@playwright/test";
import { searchedDay, searchQuery } from "../src/format/search-day";

const NOW = new Date("2026-11-28T20:00:00Z"); // 29 November in India

test("a date is searched as a day, in each usual spelling", () => {
  for (const text of ["2026-11-08", "8/11/2026", "08.11.2026", "8 Nov 2026", "08 november 2026", "8 NOV"]) {
    expect(searchedDay(text, NOW), text).toBe("2026-11-08");
  }
  expect(searchedDay("29 Nov", NOW)).toBe("2026-11-29");
  expect(searchedDay("30 Nov", NOW), "the latest one").toBe("2025-11-30");
});

test("other texts are words", () => {
  for (const text of [
    "1001",
    "2026-13-01",
    "31 Feb",
    "31/2/2026",
    "8 Novice Road",
    "2026",
    "8 may flower",
    "",
  ]) {
    expect(searchedDay(text, NOW), text).toBeUndefined();
  }
  expect(searchQuery("asha")).toEqual({ search: "asha" });
  expect(searchQuery("2026-11-28")).toEqual({
    createdFrom: "2026-11-27T18:30:00.000Z",
    createdUntil: "2026-11-28T18:30:00.000Z",
  });
});

test("a date next to words is the day of what the words find", () => {
  const day = { createdFrom: "2025-11-29T18:30:00.000Z", createdUntil: "2025-11-30T18:30:00.000Z" };
  for (const text of [
    "Kochi 30 Nov",
    "30 nov kochi",
    " Kochi  30 Nov 2025 ",
    "kochi 30/11/2025",
    "2025-11-30 Kochi",
  ]) {
    const found = searchQuery(text, NOW);
    expect({ ...found, search: found.search?.toLowerCase() }, text).toEqual({ ...day, search: "kochi" });
  }
  for (const text of ["kochi 560038", "8 Novice Road", "", undefined]) {
    expect(searchQuery(text, NOW)).toEqual({ search: text });
  }
});
