// The language in which a reader sees examples. It stays the same on all pages and at later visits.
import { ref } from "vue";

const KEY = "docs-language";
export const language = ref("");

export function choose(name) {
  language.value = name;
  document.documentElement.dataset.language = name;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

/** `early.js` has set it before the page was drawn. */
export function readChosen() {
  language.value = document.documentElement.dataset.language ?? "";
}

/** A link to a heading of another language shows that language. */
export function showTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target?.closest(".language");
  if (!section || section.dataset.language === language.value) return;
  choose(section.dataset.language);
  requestAnimationFrame(() => target.scrollIntoView());
}
