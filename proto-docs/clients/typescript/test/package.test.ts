/** The packed artefact in an empty folder: its types, the signature vectors, the examples of the README, the program. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Receiver, webhooks } from "@waybill/client";
import { create, open } from "./databases.js";
import { BASE_URL, client, eventually, newReference, TEST_KEY } from "./support.js";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const VECTORS = join(PACKAGE, "../vectors/webhook-signatures.json");

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

const VERIFY = `
import { readFileSync } from "node:fs";
import { webhooks } from "@waybill/client";
const { secrets, now, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { name, headers, body, valid } of cases) {
  let accepted = true;
  try { webhooks.constructEvent(body, headers, secrets, { nowSeconds: now }); } catch { accepted = false; }
  if (accepted !== valid) throw new Error(name);
}
process.stdout.write(String(cases.length));
`;

test("the packed artefact works in an empty folder", { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "packed-"));
  // The test has built it; another build would replace files that other tests are using.
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: PACKAGE,
  });
  const [{ filename, files }] = JSON.parse(packed.stdout);
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  assert.ok(paths.includes("README.md") && paths.includes("dist/cli/main.js"));
  assert.deepEqual(
    paths.filter(
      (path) => !/^(README\.md|package\.json|dist\/(?!(examples|test)\/).*\.(js|d\.ts))$/.test(path),
    ),
    [],
  );

  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, filename)], {
    cwd: folder,
  });
  await writeFile(join(folder, "verify.js"), VERIFY);
  const verified = await run(process.execPath, ["verify.js", VECTORS], { cwd: folder });
  assert.ok(Number(verified.stdout) >= 20);
  const version = await run(join(folder, "node_modules/.bin/waybill"), ["--version"]);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);

  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const examples = await compileExamples(folder, readme);
  const state = { WAYBILL_STATE_DIRECTORY: folder, WAYBILL_API_KEY: TEST_KEY, WAYBILL_BASE_URL: BASE_URL };
  const env = { ...process.env, ...state };
  const example = await run(process.execPath, [examples[0] ?? ""], { cwd: folder, env });
  assert.match(example.stdout, /^http.*\/track\/TEST-/);
  const command = /^npx (waybill listen --print-secret)$/m.exec(readme)?.[1]?.split(" ") ?? [];
  const secret = await run(join(folder, "node_modules/.bin", command[0] ?? ""), command.slice(1), { env });
  assert.match(secret.stdout, /^whsec_/);
  await runExamples(examples);
});

/** The shop of the examples: a delivery, its webhook, and the feed. */
async function runExamples([, second, third, fourth]: string[]): Promise<void> {
  process.env.WEBHOOK_SECRET = SECRET;
  const [{ ensureDelivery }, { webhookRoute }, { catchUp }] = await Promise.all(
    [second, third, fourth].map((path) => import(pathToFileURL(path ?? "").href)),
  );
  const shop = await open("postgres", await create("postgres"));
  const reference = newReference();
  await shop.query("CREATE TABLE orders (id TEXT PRIMARY KEY, delivered BOOLEAN NOT NULL)", []);
  await shop.query("INSERT INTO orders VALUES ($1, FALSE)", [reference]);
  const waybill = client(TEST_KEY);
  assert.equal(await ensureDelivery(waybill, shop.query, reference), "created");
  assert.equal(await ensureDelivery(waybill, shop.query, reference), "already_created");

  const server = webhookRoute(shop.transaction, "test").listen(0, "127.0.0.1");
  await once(server, "listening");
  const order = { id: "ord_1", orderReference: reference };
  const body = JSON.stringify({ id: "evt_1", event: "order.delivered", mode: "test", sequence: 5, order });
  const headers = webhooks.signTestEvent(body, SECRET);
  const url = `http://127.0.0.1:${server.address().port}/api/delivery/webhook`;
  const answer = await fetch(url, { method: "POST", headers, body });
  assert.deepEqual(await answer.json(), { received: true, receipt: "applied" });
  const found = await shop.query("SELECT id FROM orders WHERE delivered", []);
  assert.equal(Array.isArray(found) ? found.length : found.rows.length, 1);
  server.close();

  const receiver = new Receiver({ transaction: shop.transaction, secrets: SECRET, mode: "test" });
  const stop = new AbortController();
  const following = catchUp(receiver, waybill, stop.signal);
  const caughtUp = eventually(async () => {
    const received = await shop.query("SELECT event_id FROM waybill_events", []);
    return (Array.isArray(received) ? received : received.rows).length > 1 || undefined;
  }, "an event from the feed");
  try {
    await Promise.race([caughtUp, following]);
  } finally {
    stop.abort();
    await Promise.allSettled([following, caughtUp]);
    await shop.close();
  }
  await caughtUp;
}

/** Compiles the examples strictly, with the package's own types checked as well, and returns their paths. */
async function compileExamples(folder: string, readme: string): Promise<string[]> {
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");
  assert.equal(examples.length, 4);
  await Promise.all(examples.map((code, n) => writeFile(join(folder, `example-${n}.ts`), code)));
  await mkdir(join(folder, "node_modules/@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"]) await link(folder, name);
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--module", "NodeNext", "--target", "ES2022"];
  const tsc = join(PACKAGE, "node_modules/typescript/bin/tsc");
  const compile = (...parameters: string[]) =>
    run(process.execPath, [tsc, ...strict, ...parameters], { cwd: folder });
  await compile("example-0.ts", "example-1.ts", "example-3.ts").catch(explain);
  // The types of Express are not ours.
  for (const name of [
    "express",
    "express-serve-static-core",
    "body-parser",
    "connect",
    "qs",
    "range-parser",
    "send",
    "serve-static",
    "http-errors",
  ]) {
    await link(folder, `@types/${name}`).catch(ignoreMissing);
  }
  await compile("--skipLibCheck", "example-2.ts").catch(explain);
  await link(folder, "express");
  return examples.map((_, n) => join(folder, `example-${n}.js`));
}

async function link(folder: string, name: string): Promise<void> {
  await symlink(join(PACKAGE, "node_modules", name), join(folder, "node_modules", name));
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

function explain(error: { stdout?: string }): never {
  throw new Error(error.stdout || String(error));
}
