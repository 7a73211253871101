// Copies the built site with an operator's values, for a website that serves it at /docs/: fill.mjs <folder>. The values are
// those of order-api's variables, and the words those of services/order-api/src/routes/docs/site.rs.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, env, exit, stderr } from "node:process";

const DIST = new URL("../dist/", import.meta.url).pathname;
const folder = argv[2];
const { WAYBILL_PUBLIC__URL: url, WAYBILL_PUBLIC__PORTAL_URL: portal } = env;
if (!folder || existsSync(folder) || !url) {
  stderr.write(
    "usage: WAYBILL_PUBLIC__URL=<origin of the API> node scripts/fill.mjs <folder that does not exist yet>\n",
  );
  exit(2);
}

const origin = url.replace(/\/$/, "");
const name = env.WAYBILL_BRAND__NAME ?? "Waybill";
const prefix = env.WAYBILL_BRAND__HEADER_PREFIX ?? "Service";
const segment = env.WAYBILL_BRAND__KEY_SEGMENT ?? "waybill";
if (/["'`<>{}\\&$]/.test(name)) {
  stderr.write("WAYBILL_BRAND__NAME: leave out quotes, brackets, & and $\n");
  exit(2);
}
const VALUES = [
  ["OPERATORBRAND", name],
  ["OPERATORPREFIX", prefix],
  ["operatorprefix", prefix.toLowerCase()],
  ["https://api.delivery.example", origin],
  ["https://portal.delivery.example/", portal ? `${portal.replace(/\/$/, "")}/` : `${origin}/docs/`],
  ["#0d0e0f", env.WAYBILL_BRAND__ACCENT_COLOR ?? "#1d4ed8"],
  ["sk_test_waybill_", `sk_test_${segment}_`],
  ["sk_live_waybill_", `sk_live_${segment}_`],
];

cpSync(DIST, folder, { recursive: true });
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(html|js|css|json|md|txt)$/.test(entry.name)) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const text = readFileSync(path, "utf8");
  const filled = VALUES.reduce((before, [word, value]) => before.replaceAll(word, () => value), text);
  if (filled !== text) writeFileSync(path, filled);
}
