/** The packed artefact in an empty folder: its files, the signature vectors, the program. The guides' test runs the examples. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const VECTORS = join(PACKAGE, "../vectors/webhook-signatures.json");

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
      (path) =>
        !/^(examples\/\w+\.ts|README\.md|package\.json|dist\/(?!(examples|test)\/).*\.(js|d\.ts))$/.test(
          path,
        ),
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
});
