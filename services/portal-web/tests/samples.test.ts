// Runs the verification samples that integrators copy.
import { execFile, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { VERIFYING } from "../src/pages/webhooks/verifying";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const BODY = '{"event":"order.delivered","note":"Café ☕"}\n';
const GUIDE = new URL("../../../proto-docs/integrators/webhook-reference.md", import.meta.url);

interface Case {
  name: string;
  headers: Record<string, string>;
  /** The value that a framework passes for a missing body. */
  body?: string | null | Record<string, never>;
  trusted: boolean;
}

function sign(timestamp: string, body: string): string {
  return `sha256=${createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex")}`;
}

function signed(timestamp: string, header = "service-signature"): Record<string, string> {
  return { "service-timestamp": timestamp, [header]: sign(timestamp, BODY) };
}

function cases(): Case[] {
  const now = String(Math.floor(Date.now() / 1000));
  const genuine = signed(now);
  return [
    { name: "genuine", headers: genuine, trusted: true },
    { name: "by the next secret", headers: signed(now, "service-signature-next"), trusted: true },
    { name: "another body", headers: genuine, body: "{}", trusted: false },
    { name: "no headers", headers: {}, trusted: false },
    { name: "signed long ago", headers: signed("1700000000"), trusted: false },
    { name: "400 digits", headers: signed("4".repeat(400)), trusted: false },
    { name: "5,000 digits", headers: signed("4".repeat(5000)), trusted: false },
    { name: "other digits", headers: signed("١٧٠٠٠٠٠٠٠٠"), trusted: false },
    { name: "not ASCII", headers: { ...genuine, "service-signature": "sha256=é" }, trusted: false },
  ];
}

/** Express's value for a request without a body: `undefined` in version 5, an empty object in older versions. */
function withoutBody(): Case[] {
  const headers = signed(String(Math.floor(Date.now() / 1000)));
  return [
    { name: "no body", headers, body: null, trusted: false },
    { name: "an empty object", headers, body: {}, trusted: false },
  ];
}

/** Per language: the command that runs a file, and the code that calls `verify` with each case of `cases.json`. */
const LANGUAGES = {
  "Node.js": {
    fence: "js",
    command: "node",
    file: "run.cjs",
    harness: `
const cases = JSON.parse(require('node:fs').readFileSync('cases.json', 'utf8'));
const bytes = (body) => (typeof body === 'string' ? Buffer.from(body) : (body ?? undefined));
console.log(JSON.stringify(cases.map((one) => verify(one.secret, one.headers, bytes(one.body)))));`,
  },
  Python: {
    fence: "python",
    command: "python3",
    file: "run.py",
    harness: `
import json
with open("cases.json", encoding="utf-8") as file:
    print(json.dumps([verify(one["secret"], one["headers"], one["body"].encode()) for one in json.load(file)]))`,
  },
  PHP: {
    fence: "php",
    command: "php",
    file: "run.php",
    harness: `
$cases = json_decode(file_get_contents('cases.json'), true);
echo json_encode(array_map(fn ($one) => verify($one['secret'], $one['headers'], $one['body']), $cases));`,
  },
};

function isInstalled(command: string): boolean {
  return spawnSync(command, ["--version"]).error === undefined;
}

function code(language: string): string {
  const written = VERIFYING.find(({ name }) => name === language)?.code("Service");
  if (!written) throw new Error(`there is no ${language} sample`);
  return written;
}

function run(language: keyof typeof LANGUAGES, given: Case[]): unknown {
  const { command, file, harness } = LANGUAGES[language];
  const folder = mkdtempSync(join(tmpdir(), "samples-"));
  try {
    const all = given.map((one) => ({
      secret: SECRET,
      headers: one.headers,
      body: one.body === undefined ? BODY : one.body,
    }));
    writeFileSync(join(folder, "cases.json"), JSON.stringify(all));
    writeFileSync(join(folder, file), `${code(language)}\n${harness}\n`);
    const { status, stdout, stderr } = spawnSync(command, [file], { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`${language}: ${stderr}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.describe("the verification of webhooks that integrators copy", () => {
  for (const language of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
    const { command, fence } = LANGUAGES[language];

    test(`is the same in the guide and in the portal: ${language}`, () => {
      const guide = readFileSync(GUIDE, "utf8");
      const block = guide.match(new RegExp(`^\`\`\`${fence}\n([^]*?)\n\`\`\`$`, "m"))?.[1];
      expect(block).toBe(code(language).replace("<?php\n", ""));
    });

    test(`accepts signed webhooks and rejects all others: ${language}`, () => {
      test.skip(command === "php" && !isInstalled(command), "`make test` installs the others");
      const given = language === "Node.js" ? [...cases(), ...withoutBody()] : cases();
      const expected = given.map(({ name, trusted }) => [name, trusted]);
      const found = run(language, given) as boolean[];
      expect(given.map(({ name }, at) => [name, found[at]])).toEqual(expected);
    });
  }
});

const SHOP = new URL("../../../proto-docs/integrators/other-languages.md", import.meta.url);
const ORDER = {
  id: "ord_1",
  trackingCode: "TEST-1",
  trackingUrl: "https://track.example/1",
  status: "created",
};

/** The events of one order; that of the collected cash is late. */
function feed() {
  const event = (id: string, kind: string, sequence: number, status: string, data = {}) => {
    const order = { ...ORDER, orderReference: "3001", status };
    return { id, event: kind, sequence, mode: "test", order, data };
  };
  const failed = event("evt_2", "order.failed", 2, "failed");
  const delivered = event("evt_4", "order.delivered", 4, "delivered");
  const late = event("evt_3", "cod.collected", 3, "driver_assigned", { codAmountPaise: 900 });
  const settled = event("evt_5", "cod.settled", 5, "delivered", { codAmountPaise: 800 });
  return { data: [failed, failed, delivered, late, settled], hasMore: false, next: "at_1" };
}

/** A new folder with the files of the shop. */
function shop(): string {
  const folder = mkdtempSync(join(tmpdir(), "shop-"));
  const files = readFileSync(SHOP, "utf8").matchAll(/^```php\n(<\?php\n\/\/ (\w+\.php)\n[\s\S]*?)^```$/gm);
  for (const [, text, name] of files) writeFileSync(join(folder, String(name)), String(text));
  writeFileSync(join(folder, "verify.php"), code("PHP"));
  return folder;
}

test("the shop in PHP sends an order once, repeats what failed, and applies each event once", async () => {
  test.skip(!isInstalled("php"), "`make test` installs the others");
  const folder = shop();
  const calls: string[] = [];
  // The first attempt fails, and the second one is refused; a second reading of the feed is refused, which ends the reader.
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url} ${request.headers["idempotency-key"] ?? ""}`.trim());
    const isOrder = request.method === "POST";
    const number = calls.filter((call) => call.startsWith(String(request.method))).length;
    response.statusCode =
      (isOrder ? [503, 400, 201, 201, 201, 503, 201, 201] : [200, 401, 401])[number - 1] ?? 500;
    request.resume().on("end", () => response.end(JSON.stringify(isOrder ? ORDER : feed())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = {
    PATH: process.env.PATH,
    WAYBILL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    WAYBILL_API_KEY: "sk_test_1",
  };
  const withKey = (key: string, ...words: string[]) =>
    promisify(execFile)("php", words, { cwd: folder, env: { ...env, WAYBILL_API_KEY: key } });
  const php = (...words: string[]) => withKey(env.WAYBILL_API_KEY, ...words);
  try {
    await php("shop.php", "place", "3001");
    await php("shop.php", "place", "3001");
    const failed = JSON.parse((await php("shop.php", "list")).stdout)[0];
    expect(failed).toMatchObject({ state: "failed", attempts: 1, error: "503 " });
    await php("shop.php", "retry", "3001");
    // After a 400, the corrected order is sent.
    await php("shop.php", "place", "3001");
    await php("shop.php", "place", "3001");
    const ended = await php("shop.php", "follow").catch((error) => error);
    expect(`${ended.stdout}${ended.stderr}`).toContain("the feed answers 401");
    const created = JSON.parse((await php("shop.php", "list")).stdout)[0];
    expect(created).toMatchObject({ state: "created", service_id: "ord_1", due_at: null });
    expect(created).toMatchObject({ status: "delivered", collected_paise: 900, settled_paise: 800 });
    expect((await php("shop.php", "cancel", "3001")).stdout).toBe("201 created\n");
    const unknown = await php("shop.php", "no-command").catch((error) => error);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("usage: ") });
    // Neither the order nor the feed's position in tests is the live one.
    await withKey("sk_live_1", "shop.php", "place", "3001");
    await withKey("sk_live_1", "shop.php", "follow").catch((error) => error);
    // An order whose first attempt failed is sent before it is cancelled.
    await php("shop.php", "place", "3002");
    expect((await php("shop.php", "cancel", "3002")).stdout).toBe("201 created\n");
    const refused = await php("shop.php", "cancel", "3002").catch((error) => error);
    expect(refused).toMatchObject({ code: 1, stdout: "500 created\n" });
    expect(calls).toEqual([
      ...Array(3).fill("POST /v1/integration/orders my-shop-3001"),
      "GET /v1/integration/events?limit=100&waitSeconds=0",
      "GET /v1/integration/events?limit=100&waitSeconds=25&startingAfter=at_1",
      "POST /v1/integration/orders/ord_1/cancel",
      "POST /v1/integration/orders my-shop-3001",
      "GET /v1/integration/events?limit=100&waitSeconds=0",
      ...Array(2).fill("POST /v1/integration/orders my-shop-3002"),
      ...Array(2).fill("POST /v1/integration/orders/ord_1/cancel"),
    ]);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test("the receiver in PHP refuses what is no event, and answers 500 when its database fails", async () => {
  test.skip(!isInstalled("php"), "`make test` installs the others");
  const folder = shop();
  const env = { PATH: process.env.PATH, WEBHOOK_SECRET: SECRET, WAYBILL_API_KEY: "sk_test_1" };
  const words = ["-d", "display_errors=1", "-S", "127.0.0.1:0", "webhook.php"];
  const php = spawn("php", words, { cwd: folder, env });
  try {
    // It prints the port that it got.
    const address = await new Promise<string>((resolve) => {
      let text = "";
      php.stderr.on("data", (part) => {
        text += part;
        const found = text.match(/\((http:\/\/127\.0\.0\.1:[1-9]\d*)\) started/)?.[1];
        if (found) resolve(found);
      });
    });
    const send = async (body = JSON.stringify(feed().data[0])) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = { "service-timestamp": timestamp, "service-signature": sign(timestamp, body) };
      return (await fetch(address, { method: "POST", headers, body })).status;
    };
    expect(await send()).toBe(200);
    for (const body of ["", "{", "null", "7", '"event"', '{"id":1,"event":"order.created","mode":"test"}'])
      expect([body, await send(body)]).toEqual([body, 400]);
    expect(await send(" ".repeat(65_537))).toBe(413);
    expect(await send('{"id":"evt_9","event":"wallet.low_balance","mode":"test"}')).toBe(200);
    writeFileSync(join(folder, "shop.db"), "no database");
    expect(await send()).toBe(500);
  } finally {
    php.kill();
    rmSync(folder, { recursive: true });
  }
});
