// A search text that is a date means that day, in the operator's time zone.
import { endOfDay, startOfDay } from "./day";
import { toLocalTime } from "./region";

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

/** `2026-11-28`, `28/11/2026`, `28 Nov 2026`, or the latest `28 Nov`, as `2026-11-28`. `undefined` for other texts. */
export function searchedDay(text: string, now = new Date()): string | undefined {
  const today = toLocalTime(now).slice(0, 10);
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  if (year) return isoDay(year, Number(month), day);
  const [, first, second, third] = /^(\d{1,2})[/.](\d{1,2})[/.](\d{4})$/.exec(text) ?? [];
  if (third) return isoDay(third, Number(second), first);
  const [, date, name, given] = /^(\d{1,2})\s+([a-z]{3,9})\.?(?:\s+(\d{4}))?$/i.exec(text) ?? [];
  const named = name ? MONTHS.findIndex((month) => month.startsWith(name.toLowerCase())) + 1 : 0;
  if (!named) return undefined;
  if (given) return isoDay(given, named, date);
  const thisYear = isoDay(today.slice(0, 4), named, date);
  const isPast = thisYear !== undefined && thisYear <= today;
  return isPast ? thisYear : isoDay(String(Number(today.slice(0, 4)) - 1), named, date);
}

function isoDay(year: string, month: number, day = ""): string | undefined {
  const iso = `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`;
  const midnight = new Date(`${iso}T00:00:00Z`);
  // 31 February is read as a day of March.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(iso) ? iso : undefined;
}

/** A date has at most three words: `28 Nov 2026`. */
const DATE_WORDS_MAX = 3;

interface SearchQuery {
  search?: string | undefined;
  createdFrom?: string | undefined;
  createdUntil?: string | undefined;
}

/** The query of a search: words, and the period of a date before or after them. */
export function searchQuery(text: string | undefined, now = new Date()): SearchQuery {
  const words = text?.trim().split(/\s+/) ?? [];
  for (let length = Math.min(DATE_WORDS_MAX, words.length); length > 0; length--) {
    for (const start of [words.length - length, 0]) {
      const day = searchedDay(words.slice(start, start + length).join(" "), now);
      if (!day) continue;
      const rest = [...words.slice(0, start), ...words.slice(start + length)].join(" ");
      const period = { createdFrom: startOfDay(day), createdUntil: endOfDay(day) };
      return rest ? { search: rest, ...period } : period;
    }
  }
  return { search: text };
}
