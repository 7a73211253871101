// Writes `early.js`, compresses what order-api serves unchanged, and checks the built pages: no script in a page, and each
// link leads to a page and a heading.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url).pathname;
/** The words that order-api replaces: see services/order-api/src/routes/docs/site.rs. */
const REPLACED =
  /operator(?:brand|prefix)|(?:api|portal)\.delivery\.example|sk_(?:test|live)_waybill_|#0d0e0f/i;
/** Before the page is drawn: dark or light, and the language of examples. The names are VitePress's and those of our theme. */
const EARLY = `const root = document.documentElement;
const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const appearance = read("vitepress-theme-appearance") || "auto";
if (appearance === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : appearance === "dark") root.classList.add("dark");
root.classList.toggle("mac", /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
root.dataset.language = read("docs-language") || "curl";
`;

const files = readdirSync(DIST, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const pages = new Map();
for (const entry of files) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const bytes = readFileSync(path);
  const text = bytes.toString("utf8");
  if (/\.(css|js)$/.test(entry.name) && !REPLACED.test(text))
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  if (entry.name.endsWith(".html"))
    pages.set(`/docs/${path.slice(DIST.length, -5)}`.replace(/\/index$/, "/"), text);
}

const mistakes = [];
const ids = new Map(
  [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
);
let links = 0;
for (const [path, html] of pages) {
  if (/<script(?![^>]* src=)[^>]*>/.test(html)) mistakes.push(`${path} has a script in the page`);
  for (const [, link] of html.matchAll(/<a\b[^>]* href="(\/docs\/[^"]*|#[^"]*)"/g)) {
    const [page, anchor] = link.startsWith("#") ? [path, link.slice(1)] : link.split("#");
    if (/^\/docs\/(downloads|postman\.json|llms\.txt)|\.md$/.test(page)) continue;
    const known = ids.get(page);
    if (!known) mistakes.push(`${path}: ${link} leads to no page`);
    else if (anchor && anchor !== "VPContent" && !known.has(decodeURIComponent(anchor)))
      mistakes.push(`${path}: ${link} leads to no heading`);
    links += 1;
  }
}
if (mistakes.length) {
  process.stderr.write(`${[...new Set(mistakes)].join("\n")}\n`);
  process.exit(1);
}
// Last, because make takes this file for the whole build.
writeFileSync(join(DIST, "early.js"), EARLY);
process.stdout.write(`${pages.size} pages, ${links} links\n`);
