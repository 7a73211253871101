// Fails if a first visit loads too much script: the entry, its imports and the largest page, in the console with its frame.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url).pathname;
const LIMIT_KIB = 250;

const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, "utf8"));
const chunks = Object.entries(manifest);
const [entry] = chunks.find(([, chunk]) => chunk.isEntry) ?? [];
if (!entry) throw new Error("the manifest has no entry: run the build first");

/** The chunk and its static imports. */
function closure(key, found = new Set()) {
  if (found.has(key)) return found;
  found.add(key);
  for (const imported of manifest[key].imports ?? []) closure(imported, found);
  return found;
}

const sizes = new Map();
function kib(keys) {
  let bytes = 0;
  for (const key of keys) {
    const file = manifest[key].file;
    if (!file.endsWith(".js")) continue;
    if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(DIST + file), { level: 9 }).length);
    bytes += sizes.get(file);
  }
  return bytes / 1024;
}

const CONSOLE = "src/pages/operator/";
/** The frame of each page of the console that needs a session. */
const SHELL = `${CONSOLE}operator-shell.tsx`;
if (!manifest[SHELL]) throw new Error(`the manifest has no ${SHELL}`);
const frame = (page) => (page.startsWith(CONSOLE) ? [...closure(SHELL)] : []);

const pages = chunks.filter(([, chunk]) => chunk.isDynamicEntry).map(([key]) => key);
const loads = pages
  .map((page) => ({ page, kib: kib(new Set([...closure(entry), ...frame(page), ...closure(page)])) }))
  .sort((a, b) => b.kib - a.kib);

for (const load of loads.slice(0, 5)) {
  process.stdout.write(`${load.kib.toFixed(1).padStart(7)} KiB  ${load.page}\n`);
}
const heaviest = loads[0]?.kib ?? kib(closure(entry));
process.stdout.write(`first load: ${heaviest.toFixed(1)} of ${LIMIT_KIB} KiB of gzipped script\n`);
if (heaviest > LIMIT_KIB) {
  process.stderr.write("The first load has too much script: split a page, or remove a library.\n");
  process.exitCode = 1;
}
