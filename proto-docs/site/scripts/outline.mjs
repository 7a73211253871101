// Which Markdown file of this repository becomes which page, and the order of reading.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const REPOSITORY = new URL("../../../", import.meta.url).pathname;
const DOCS = "proto-docs";

/** The title of a page: its first heading. */
export const titleOf = (text) => text.match(/^# (.+)$/m)?.[1].replaceAll("`", "") ?? "";
export const read = (file) => readFileSync(join(REPOSITORY, file), "utf8");

const page = (source, path) => ({ source: `${DOCS}/${source}`, path });
const folder = (name) =>
  readdirSync(join(REPOSITORY, DOCS, name))
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .sort()
    .map((file) => page(`${name}/${file}`, `${name}/${file.slice(0, -3)}`));
const guides = (...names) => names.map((name) => page(`integrators/${name}.md`, name));
const operators = (...names) => names.map((name) => page(`operators/${name}.md`, `operators/${name}`));
const tables = (area, ...names) => names.map((name) => page(`${name}.md`, `${area}/${name.toLowerCase()}`));
const clients = ["typescript", "python", "rust"];

/** Each chapter of the two areas for integrators and of the two for operators and developers, in the order of reading. */
export const CHAPTERS = {
  guides: [
    { text: "Start here", pages: guides("first-order", "webhooks", "never-twice", "catching-up", "go-live") },
    {
      text: "Topics",
      pages: guides(
        "test-orders",
        "failed-deliveries",
        "proof-of-delivery",
        "wallet-and-cash",
        "requests",
        "webhook-reference",
      ),
    },
    {
      text: "Packages",
      pages: [
        ...clients.map((name) => page(`clients/${name}/README.md`, `clients/${name}`)),
        page("clients/medusa/README.md", "medusa"),
        ...guides("other-languages", "other-providers"),
      ],
    },
  ],
  operators: [
    { text: "Start here", pages: operators("going-live", "operations", "security", "threat-model") },
    { text: "Releases", pages: operators("changelog", "upgrades", "releases", "cluster-test") },
    { text: "Reference", pages: tables("operators", "SETTINGS", "METRICS", "LOGS", "SCALE") },
    { text: "Runbooks", pages: [page("runbooks/README.md", "runbooks/"), ...folder("runbooks")] },
  ],
  developers: [
    {
      text: "Start here",
      pages: tables("developers", "CONTRIBUTING", "GLOSSARY", "SPECIFICATION", "BENCHMARKS"),
    },
    { text: "Architecture", pages: [page("ARCHITECTURE.md", "architecture/"), ...folder("architecture")] },
    { text: "Decisions", pages: [page("decisions/README.md", "decisions/"), ...folder("decisions")] },
  ],
};

/** All of them: `{ area, source, path }`. */
export const SOURCES = Object.entries(CHAPTERS).flatMap(([area, chapters]) =>
  chapters.flatMap(({ pages }) => pages.map((one) => ({ area, ...one }))),
);

for (const file of readdirSync(join(REPOSITORY, DOCS, "integrators"))) {
  const isListed = SOURCES.some(({ source }) => source === `${DOCS}/integrators/${file}`);
  if (!isListed) throw new Error(`${file} is in no chapter: add it to scripts/outline.mjs`);
}
for (const { source } of SOURCES) {
  if (!existsSync(join(REPOSITORY, source)))
    throw new Error(`${source} is in scripts/outline.mjs, but does not exist`);
}
