// Writes the pages into .pages, the side bars into .pages/.sidebars.json, and what only programs read into .pages/public.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asPage, asPlain, outsideOfCode, withPowerShell } from "./markdown.mjs";
import { CHAPTERS, read, SOURCES, titleOf } from "./outline.mjs";
import { collection } from "./postman.mjs";
import { CALLS, ERRORS, pageOfCall, referencePages } from "./reference.mjs";

const PAGES = new URL("../.pages/", import.meta.url).pathname;
/** The search leaves out what integrators do not look for. */
const SEARCHED = ["guides", "reference"];
const ORIGIN = "https://api.delivery.example";
/** As in the navigation, `.vitepress/config.mjs`. */
const PORTAL = "https://portal.delivery.example/";

function write(file, text) {
  const path = join(PAGES, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const fileOf = (path) => (path === "" || path.endsWith("/") ? `${path}index.md` : `${path}.md`);
const home = readFileSync(new URL("../pages/home.md", import.meta.url), "utf8");
/** Pages as Markdown, without the tags of our own. */
const withoutTags = (text) =>
  outsideOfCode(text.replaceAll("**<br>", "**: ").replace(/<\/?code>/g, "`"), (part) =>
    part.replace(/<\/?(div|p|span|a|Languages|br|h3)\b[^>]*>/g, ""),
  ).replace(/\n{3,}/g, "\n\n");
/** Programs read a page without knowing its address. */
const withAddresses = (text) => text.replace(/\]\(\/(?!docs\/|v1\/)/g, `](${ORIGIN}/docs/`);

/** Users of a package do not develop it. */
const sourceOf = (source) =>
  source.includes("/clients/")
    ? read(source).replace(/\n## Development\n[\s\S]*?(?=\n## |$)/, "")
    : read(source);

const pages = [
  ...SOURCES.map(({ area, source, path }) => ({
    area,
    path,
    text: asPage(withPowerShell(sourceOf(source)), source),
    plain: withAddresses(asPlain(withPowerShell(sourceOf(source)), source)),
  })),
  ...referencePages(home).map(([path, text, source]) => ({
    area: "reference",
    path,
    // Written by us: its tags are meant.
    text: asPage(text, source, true),
    plain: withAddresses(withoutTags(asPlain(text, source))),
  })),
];

/** Integrators know the brand of their operator, and have no copy of this repository. Only code has the name of the packages' class. */
for (const { area, path, plain } of pages) {
  const leak =
    SEARCHED.includes(area) && plain.match(/.*(?:proto-docs\/|make test|ord_[0-9A-HJKMNP-TV-Z]{26}\/).*/);
  if (leak) throw new Error(`${path} names what only this repository has: ${leak[0]}`);
  outsideOfCode(plain, (part) => {
    if (SEARCHED.includes(area) && /\bWaybill\b/.test(part))
      throw new Error(`${path} names Waybill outside of code: ${part}`);
    return part;
  });
}

rmSync(PAGES, { recursive: true, force: true });
for (const { area, path, text, plain } of pages) {
  const file = path === "index" ? "index.md" : fileOf(path);
  const matter = { title: titleOf(text), search: SEARCHED.includes(area) };
  const asMarkdown = `<p class="as-markdown"><a href="/docs/${file}" target="_self">This page as Markdown</a></p>`;
  write(file, `---\n${JSON.stringify(matter)}\n---\n\n${text}\n\n${asMarkdown}\n`);
  write(join("public", file), plain);
}

const item = (path) => {
  const { text } = pages.find((one) => one.path === path);
  return { text: titleOf(text), link: `/${path}` };
};
/** Long chapters are closed at first, and their titles are links: VitePress's other form is not accessible. */
const chapters = (area) =>
  CHAPTERS[area].map(({ text, pages: own }) => ({
    text,
    ...(own.length > 12 && { collapsed: true, link: `/${own[0].path}` }),
    items: own.map(({ path }) => item(path)),
  }));
const reference = [
  ...CALLS.map(([text, calls]) => ({
    text,
    items: calls.map(({ id, operation }) => ({ text: operation.summary, link: `/${pageOfCall(id)}` })),
  })),
  {
    text: "Webhooks",
    items: [item("reference/events"), { text: "Webhook reference", link: "/webhook-reference" }],
  },
  {
    text: "Errors",
    link: "/errors/",
    collapsed: true,
    items: [...ERRORS.keys()].sort().map((code) => item(`errors/${code}`)),
  },
];
const overview = { text: "Overview", link: "/" };
const [start, ...otherGuides] = chapters("guides");
const guides = [{ ...start, items: [overview, ...start.items] }, ...otherGuides];
guides.at(-1).items.push({ text: "Downloads", link: `${ORIGIN}/docs/downloads`, target: "_self", rel: "" });
const sidebars = {
  "/": guides,
  "/reference/": reference,
  "/errors/": reference,
  "/operators/": chapters("operators"),
  "/runbooks/": chapters("operators"),
  "/developers/": chapters("developers"),
  "/architecture/": chapters("developers"),
  "/decisions/": chapters("developers"),
};
write(".sidebars.json", JSON.stringify(sidebars));
write("public/postman.json", JSON.stringify(collection(), null, 2));

const line = ({ path, text }) =>
  `- [${titleOf(text)}](${ORIGIN}/docs/${fileOf(path === "index" ? "" : path)})`;
const section = (title, area) =>
  `## ${title}\n\n${pages
    .filter((one) => one.area === area)
    .map(line)
    .join("\n")}`;
write(
  "public/llms.txt",
  [
    "# OPERATORBRAND API",
    "> One confirmed order of a shop is one delivery. The shop's backend creates it over HTTP, and signed webhooks report its progress.",
    `The OpenAPI document: ${ORIGIN}/v1/openapi.json`,
    `The portal, for keys, wallet and webhook endpoints: ${PORTAL} (if this leads to no portal, ask the operator)`,
    section("Guides", "guides"),
    section("Reference", "reference"),
    section("Optional: operators", "operators"),
    section("Optional: developers", "developers"),
    "",
  ].join("\n\n"),
);
