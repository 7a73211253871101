/** `waybill listen`: the real program between a real stack and a receiver that fails, hangs, stops and starts again. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once as next } from "node:events";
import { mkdir, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type SimulatedEvent, type Waybill, type WebhookEvent, webhooks } from "@waybill/client";
import {
  BASE_URL,
  bytesOf,
  client,
  eventually,
  type Fault,
  FaultyProxy,
  LIVE_KEY,
  newOrder,
  newReference,
  newTestKey,
  TEST_KEY,
} from "./support.js";

const PROGRAM = fileURLToPath(new URL("../cli/main.js", import.meta.url));
const MOVES = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"] as const;
const KINDS = ["order.created", ...MOVES];
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const LISTEN = ["listen", "--forward-to", "http://127.0.0.1:9/"];
/** Ends what a failed test leaves, which would keep this process alive. */
const leftovers: (() => void)[] = [];
after(() => {
  for (const end of leftovers) end();
});

class Program {
  readonly child: ChildProcess;
  output = "";

  constructor(stateDirectory: string, parameters: string[], changes: Record<string, string> = {}) {
    const variables = {
      WAYBILL_BASE_URL: BASE_URL,
      WAYBILL_API_KEY: TEST_KEY,
      WAYBILL_STATE_DIRECTORY: stateDirectory,
    };
    const env = { ...process.env, ...variables, ...changes };
    this.child = spawn(process.execPath, [PROGRAM, ...parameters], { env, stdio: ["pipe", "pipe", "pipe"] });
    leftovers.push(() => this.child.kill("SIGKILL"));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk) => {
        this.output += chunk;
      });
    }
  }

  async exitCode(input = ""): Promise<number | null> {
    this.child.stdin?.end(input);
    const [code] = await next(this.child, "close");
    return code;
  }

  ready(): Promise<true> {
    return eventually(() => this.output.includes("Ready: ") || undefined, `Ready, after: ${this.output}`);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const closed = next(this.child, "close");
    this.child.kill(signal);
    await closed;
  }
}

type Answer = (event: WebhookEvent, response: ServerResponse) => boolean;

/** Verifies each webhook, and takes those that `answer` does not handle. */
class ReceiverServer {
  readonly taken: WebhookEvent[] = [];
  /** The bytes of each event by its id. */
  readonly bodies = new Map<string, string>();
  readonly #secret: string;
  #server: Server | undefined;
  port = 0;
  answer: Answer = () => false;

  constructor(secret: string) {
    this.#secret = secret;
  }

  async start(): Promise<void> {
    const server = createServer(async (request, response) => {
      const body = await bytesOf(request);
      const event = webhooks.constructEvent(body, request.headers, this.#secret);
      if (this.answer(event, response)) return;
      this.taken.push(event);
      this.bodies.set(event.id, body.toString("utf8"));
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    leftovers.push(() => this.stop());
  }

  stop(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/webhook`;
  }

  kindsOf(orderId: string): string[] {
    return this.taken.filter(({ order }) => order?.id === orderId).map(({ event }) => event);
  }

  delivered(orderId: string): Promise<true> {
    const isDelivered = () => this.kindsOf(orderId).includes("order.delivered") || undefined;
    return eventually(isDelivered, `the delivery of ${orderId}`);
  }
}

/** A developer with a business of their own, and what `listen` keeps on their machine. */
class Developer {
  readonly #waybill: Waybill;

  private constructor(
    readonly key: string,
    readonly directory: string,
  ) {
    this.#waybill = client(key);
  }

  static async start(): Promise<Developer> {
    return new Developer(await newTestKey(), await stateDirectory());
  }

  async receiver(): Promise<ReceiverServer> {
    const receiver = new ReceiverServer(await secretOf(this.directory));
    await receiver.start();
    return receiver;
  }

  listen(receiver: ReceiverServer, ...more: string[]): Program {
    const parameters = ["listen", "--forward-to", receiver.url, ...more];
    return new Program(this.directory, parameters, { WAYBILL_API_KEY: this.key });
  }

  async createdOrder(): Promise<string> {
    const reference = newReference();
    return (await this.#waybill.orders.create(newOrder(reference), { idempotencyKey: reference })).id;
  }

  async move(orderId: string, ...moves: SimulatedEvent[]): Promise<void> {
    for (const event of moves) await this.#waybill.orders.simulate(orderId, event);
  }
}

/** Handles the first such event of the order in its own way. */
function once(kind: string, orderId: string, handle: (response: ServerResponse) => void): Answer {
  let isFirst = true;
  return ({ event, order }, response) => {
    if (!isFirst || event !== kind || order?.id !== orderId) return false;
    isFirst = false;
    handle(response);
    return true;
  };
}

async function listening() {
  const developer = await Developer.start();
  const receiver = await developer.receiver();
  const program = developer.listen(receiver);
  await program.ready();
  return { developer, receiver, program };
}

function stateDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "waybill-"));
}

async function secretOf(directory: string): Promise<string> {
  const program = new Program(directory, ["listen", "--print-secret"]);
  assert.equal(await program.exitCode(), 0);
  return program.output.trim();
}

/** Loaded before the program: the first lookups of a name fail with this code. */
function failingLookups(count: number, code: string): Record<string, string> {
  const script = `
    import dns from "node:dns";
    const { lookup } = dns;
    let left = ${count};
    dns.lookup = (...given) => {
      if (left === 0) return lookup(...given);
      left -= 1;
      process.nextTick(given.at(-1), Object.assign(new Error("no address"), { code: "${code}" }));
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` };
}

function unique(kinds: string[]): string[] {
  return [...new Set(kinds)];
}

// Each has its own program and receiver, and mostly waits.
describe("waybill", { concurrency: true }, () => {
  test("a receiver that answers 500, or is down, gets every event in order, and other orders do not wait", async () => {
    const { developer, receiver, program } = await listening();
    const [failing, plain] = await Promise.all([developer.createdOrder(), developer.createdOrder()]);
    let fails = true;
    receiver.answer = ({ event, order }, response) => {
      const isRefused = fails && event === "order.picked_up" && order?.id === failing;
      if (isRefused) response.writeHead(500).end("out of \u0007 memory");
      return isRefused;
    };
    await Promise.all([failing, plain].map((id) => developer.move(id, ...MOVES)));
    await receiver.delivered(plain);
    assert.ok(!receiver.kindsOf(failing).includes("order.picked_up"), "the failing order delays only itself");
    fails = false;

    receiver.stop();
    const late = await developer.createdOrder();
    await developer.move(late, ...MOVES);
    await eventually(() => program.output.includes("nothing listens there") || undefined, "an attempt");
    await receiver.start();
    for (const id of [late, failing]) await receiver.delivered(id);
    await program.kill("SIGTERM");
    for (const id of [plain, late, failing]) assert.deepEqual(receiver.kindsOf(id), KINDS);
    assert.match(
      program.output,
      /order\.picked_up \S+ #3 attempt 1: 500 in \d+ ms: out of {3}memory; again in [456] s/,
    );
    assert.ok(!program.output.includes(developer.key.slice(12)));
    receiver.stop();
  });

  test("a receiver that hangs gets the event again", async () => {
    const { developer, receiver, program } = await listening();
    const id = await developer.createdOrder();
    receiver.answer = once("driver.assigned", id, () => {});
    await developer.move(id, ...MOVES);
    await receiver.delivered(id);
    await program.kill("SIGTERM");
    assert.deepEqual(receiver.kindsOf(id), KINDS);
    // The bytes are those of the service.
    const [last] = receiver.taken.filter(({ order }) => order?.id === id).slice(-1);
    const headers = { authorization: `Bearer ${developer.key}` };
    const sent = await fetch(`${BASE_URL}/integration/events/${last?.id}`, { headers });
    assert.equal(receiver.bodies.get(last?.id ?? ""), await sent.text());
    assert.match(
      program.output,
      /attempt 1: no answer in \d+ ms: no complete answer in 10 s; again in [456] s/,
    );
    receiver.stop();
  });

  test("a program that is stopped, killed and started again loses nothing, and keeps its secret", async () => {
    const developer = await Developer.start();
    const receiver = await developer.receiver();
    const first = developer.listen(receiver);
    await first.ready();
    const [before, meanwhile] = [await developer.createdOrder(), await developer.createdOrder()];
    let hangs = false;
    receiver.answer = once("order.picked_up", before, () => {
      hangs = true;
    });
    const rival = developer.listen(receiver);
    assert.equal(await rival.exitCode(), 1);
    assert.match(rival.output, /^Another listen forwards the same events \(process \d+, /);
    assert.match(first.output, /It begins with new events\./);
    first.child.kill("SIGSTOP");
    await developer.move(before, "driver.assigned", "order.picked_up");
    first.child.kill("SIGCONT");
    await eventually(() => hangs || undefined, "the events of the stop");
    await developer.move(meanwhile, "driver.assigned", "order.picked_up");
    const isAhead = () => receiver.kindsOf(meanwhile).length === 3 || undefined;
    await eventually(isAhead, "the events of another order after the one that hangs");
    await first.kill("SIGKILL");
    await developer.move(before, "order.out_for_delivery", "order.delivered");
    await developer.move(meanwhile, "order.out_for_delivery", "order.delivered");
    const second = developer.listen(receiver);
    await Promise.all([receiver.delivered(before), receiver.delivered(meanwhile)]);
    await second.kill("SIGINT");
    for (const id of [before, meanwhile]) assert.deepEqual(unique(receiver.kindsOf(id)), KINDS);
    const taken = receiver.kindsOf(before).length + receiver.kindsOf(meanwhile).length;
    assert.ok(taken <= 2 * KINDS.length + 1, "only what ended at the moment of the kill is repeated");

    const since = new Date(Date.now() - 3_600_000).toISOString();
    receiver.taken.length = 0;
    const replay = developer.listen(receiver, "--since", since, "--events", "order.delivered", "--json");
    await Promise.all([receiver.delivered(before), receiver.delivered(meanwhile)]);
    await replay.kill("SIGTERM");
    assert.deepEqual(unique(receiver.taken.map(({ event }) => event)), ["order.delivered"]);
    const lines = replay.output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.ok(
      lines[0]?.type === "ready" &&
        lines.slice(1).every(({ status, attempt }) => status === 200 && attempt === 1),
    );
    receiver.stop();
  });

  test("a restart right after a kill goes on numbering the attempts", async () => {
    const { developer, receiver, program } = await listening();
    const id = await developer.createdOrder();
    receiver.answer = once("driver.assigned", id, (response) => response.writeHead(500).end());
    await developer.move(id, "driver.assigned");
    await eventually(() => program.output.includes("attempt 1: 500") || undefined, "the first attempt");
    await program.kill("SIGKILL");
    const again = developer.listen(receiver);
    await eventually(
      () => receiver.kindsOf(id).includes("driver.assigned") || undefined,
      "the second attempt",
    );
    await again.kill("SIGTERM");
    assert.match(again.output, /It continues where it stopped, at 20[\d-]+T[\d:.]+Z\./);
    assert.match(again.output, /driver\.assigned \S+ #2 attempt 2: 200/);
    receiver.stop();
  });

  test("it ends with the npx that started it", async () => {
    const directory = await stateDirectory();
    await mkdir(join(directory, "node_modules", ".bin"), { recursive: true });
    await writeFile(join(directory, "package.json"), "{}");
    const program = join(directory, "node_modules", ".bin", "waybill");
    await writeFile(program, `#!/usr/bin/env node\nimport(${JSON.stringify(PROGRAM)});\n`, { mode: 0o755 });
    const parameters = ["--no-install", "waybill", "listen", "--forward-to", "http://127.0.0.1:9/"];
    const env = { ...process.env, WAYBILL_BASE_URL: BASE_URL, WAYBILL_API_KEY: TEST_KEY };
    const variables = { ...env, WAYBILL_STATE_DIRECTORY: directory };
    const npx = spawn("npx", parameters, {
      cwd: directory,
      env: variables,
      stdio: ["ignore", "pipe", "inherit"],
    });
    leftovers.push(() => npx.kill());
    let output = "";
    npx.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await eventually(() => output.includes("Ready: ") || undefined, "Ready");
    npx.kill("SIGTERM");
    // The pipe closes when no process holds it any more.
    await eventually(() => npx.stdout.closed || undefined, "the end of listen");
  });

  test("the secret is private and stays; a refused key and wrong arguments have their own exit codes", async () => {
    const directory = await stateDirectory();
    const secrets = await Promise.all([secretOf(directory), secretOf(directory)]);
    assert.deepEqual(secrets, [secrets[0], secrets[0]]);
    assert.match(secrets[0] ?? "", /^whsec_/);
    assert.equal((await stat(join(directory, "secret"))).mode & 0o777, 0o600);
    const wrongKey = `${TEST_KEY.slice(0, -1)}${TEST_KEY.endsWith("0") ? "1" : "0"}`;
    const cases: [string[], Record<string, string>, number][] = [
      [LISTEN, { WAYBILL_API_KEY: wrongKey }, 3],
      [LISTEN, { WAYBILL_API_KEY: LIVE_KEY }, 3],
      [LISTEN, { WAYBILL_API_KEY: "" }, 2],
      [["listen"], {}, 2],
      [["listen", "--forward-to", "99999"], {}, 2],
      [["dance"], {}, 2],
      [["events", "list", "more"], {}, 2],
      [["orders", "get", "ord_1", "ord_2"], {}, 2],
      [["verify", "more"], {}, 2],
      [LISTEN, { WAYBILL_API_KEY: "wrong" }, 3],
      [["listen", "--dance"], {}, 2],
    ];
    for (const [parameters, changes, expected] of cases) {
      const program = new Program(directory, parameters, changes);
      assert.equal(await program.exitCode(), expected, `${parameters.join(" ")}: ${program.output}`);
      assert.ok(!program.output.includes("Ready"));
      assert.ok(![wrongKey, LIVE_KEY].some((key) => program.output.includes(key.slice(12))));
    }
  });

  test("a base URL at which no API answers ends a command with code 4, and listen after three calls", async (context) => {
    const proxy = await FaultyProxy.start();
    context.after(() => proxy.close());
    proxy.said = "<html>";
    const directory = await stateDirectory();
    const run = async (changes: Record<string, string>, ...parameters: string[]) => {
      const program = new Program(directory, parameters, changes);
      assert.equal(await program.exitCode("{}"), 4, program.output);
      assert.ok(program.output.endsWith("Check WAYBILL_BASE_URL.\n"), program.output);
      return program.output;
    };
    const of = { WAYBILL_BASE_URL: proxy.baseUrl };
    const create = ["orders", "create", "--idempotency-key", "1"];
    const cases: [string[], number, number[]][] = [
      [LISTEN, 3, [200, 301, 404]],
      [["events", "list"], 1, [200, 301, 404]],
      // After a 200, an order may exist.
      [create, 1, [301, 404]],
    ];
    for (const [parameters, calls, statuses] of cases) {
      for (const status of statuses) {
        proxy.faults = Array(calls).fill(status);
        const output = await run(of, ...parameters);
        assert.deepEqual(proxy.faults, [], output);
        assert.ok(
          output.includes(` ${proxy.baseUrl}/integration/`) && output.includes(String(status)),
          output,
        );
        assert.ok(!output.includes("?"), output);
      }
    }
    const nowhere = { WAYBILL_BASE_URL: "http://nowhere.example/v1", ...failingLookups(3, "ENOTFOUND") };
    assert.match(await run(nowhere, ...LISTEN), /http:\/\/nowhere\.example\/v1/);
  });

  test("listen waits for names, and for a proxy that answers before the API does", async (context) => {
    const proxy = await FaultyProxy.start();
    context.after(() => proxy.close());
    proxy.said = "<html>";
    proxy.faults = [404, 503, 200];
    const baseUrl = proxy.baseUrl.replace("127.0.0.1", "localhost");
    const changes = { WAYBILL_BASE_URL: baseUrl, ...failingLookups(3, "EAI_AGAIN") };
    const program = new Program(await stateDirectory(), LISTEN, changes);
    await eventually(() => program.output.includes("Ready: ") || undefined, "Ready");
    await program.kill("SIGTERM");
    assert.deepEqual(proxy.faults, []);

    [proxy.faults, proxy.retryAfter] = [[429], "1"];
    const limited = new Program(await stateDirectory(), ["events", "list"], {
      WAYBILL_BASE_URL: proxy.baseUrl,
    });
    assert.equal(await limited.exitCode(), 0, limited.output);
    assert.match(limited.output, /Trying again in 1 s or more\./);
  });

  test("after an answer that cannot be read, an order is created with the same key", async (context) => {
    const proxy = await FaultyProxy.start();
    context.after(() => proxy.close());
    const reference = newReference();
    const create = ["orders", "create", "--idempotency-key", reference];
    const run = async (...faults: Fault[]) => {
      proxy.faults = faults;
      const program = new Program(await stateDirectory(), create, { WAYBILL_BASE_URL: proxy.baseUrl });
      const code = await program.exitCode(JSON.stringify(newOrder(reference)));
      return { code, output: program.output };
    };
    // Longer than the client waits, so it gives up.
    proxy.retryAfter = "61";
    const unknown = await run(200, 503);
    assert.equal(unknown.code, 1, unknown.output);
    assert.match(unknown.output, /503.*\nIt is unknown whether the order was created\. Repeat .* same key/);
    const created = await run(200);
    assert.equal(JSON.parse(created.output).orderReference, reference);
    assert.deepEqual([...new Set(proxy.seen.map(({ key }) => key))], [reference]);
  });

  test("it outlives a script of npm that started it", async () => {
    const developer = await Developer.start();
    const receiver = await developer.receiver();
    const env = {
      ...process.env,
      WAYBILL_BASE_URL: BASE_URL,
      WAYBILL_API_KEY: developer.key,
      WAYBILL_STATE_DIRECTORY: developer.directory,
      npm_command: "run-script",
      npm_lifecycle_event: "start",
    };
    const parameters = [process.execPath, PROGRAM, "listen", "--forward-to", receiver.url];
    const script = spawn("sh", ["-c", '"$@" & read -r line', "sh", ...parameters], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    const killGroup = (signal: string) => spawn("kill", [signal, "--", `-${script.pid}`]);
    leftovers.push(() => killGroup("-KILL"));
    let output = "";
    script.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await eventually(() => output.includes("Ready: ") || undefined, "Ready");
    const ended = next(script, "exit");
    script.stdin.end("\n");
    await ended;
    const id = await developer.createdOrder();
    // It looks for its npx twice a second, and the delivery takes four.
    await developer.move(id, "auto");
    await receiver.delivered(id);
    killGroup("-TERM");
    await eventually(() => script.stdout.closed || undefined, "the end of listen");
    receiver.stop();
  });

  test("the help is that of all clients", async () => {
    const program = new Program(await stateDirectory(), ["--help"]);
    assert.equal(await program.exitCode(), 0);
    assert.equal(program.output, await readFile(join(PROGRAM, "../../../../vectors/help.txt"), "utf8"));
  });

  test("orders, events and verify", async () => {
    const directory = await stateDirectory();
    const reference = newReference();
    const run = async (parameters: string[], input = "") => {
      const program = new Program(directory, parameters);
      return { code: await program.exitCode(input), output: program.output };
    };
    const order = JSON.stringify(newOrder(reference));
    const created = await run(["orders", "create", "--idempotency-key", reference], order);
    const { id } = JSON.parse(created.output);
    assert.equal((await run(["orders", "create"], order)).code, 2);
    const refused = await run(["orders", "create", "--idempotency-key", "x"], "{}");
    assert.ok(refused.code === 1 && refused.output.includes("customer"), refused.output);
    assert.equal(
      JSON.parse((await run(["orders", "simulate", id, "driver.assigned"])).output).status,
      "driver_assigned",
    );
    assert.equal(JSON.parse((await run(["orders", "get", id])).output).orderReference, reference);
    const since = new Date(Date.now() - 60_000).toISOString();
    const event = await eventually(async () => {
      const { output } = await run(["events", "list", "--since", since, "--events", "driver.assigned"]);
      const events = output.split("\n").filter((line) => line !== "");
      return events.find((line) => JSON.parse(line).order.id === id);
    }, "the event in the feed");

    const head = new Program(directory, ["events", "list", "--since", since]);
    head.child.stdout?.destroy();
    assert.deepEqual([await head.exitCode(), head.output], [0, ""]);

    const headers = webhooks.signTestEvent(event, await secretOf(directory));
    const parameters = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const valid = await run(["verify", ...parameters], event);
    assert.deepEqual(
      [valid.code, valid.output.startsWith("valid: the signature of driver.assigned evt_")],
      [0, true],
    );
    const old = webhooks.signTestEvent(event, await secretOf(directory), {
      nowSeconds: Date.now() / 1_000 - 900,
    });
    const other = webhooks.signTestEvent(event, OTHER_SECRET);
    const spaced = JSON.stringify(JSON.parse(event), null, 1);
    const withSecret = { WAYBILL_WEBHOOK_SECRET: OTHER_SECRET };
    for (const [body, signed, variables, reason, mistake] of [
      [`${event}\n`, headers, {}, "mismatch", /differs by a line break at its end/],
      [spaced, headers, {}, "mismatch", /the same JSON, serialised again/],
      [event, other, {}, "mismatch", /the secret or the body is another one/],
      [event, headers, withSecret, "mismatch", /with the secret of listen, not with WAYBILL_WEBHOOK_SECRET/],
      [event, old, {}, "too_old", /signed 9\d\d s ago, and 300 s are allowed.*\n {2}The signature matches/],
    ] as const) {
      const given = Object.entries(signed).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
      const program = new Program(directory, ["verify", ...given], variables);
      const code = await program.exitCode(body);
      assert.deepEqual([code, program.output.startsWith(`invalid (${reason})`)], [1, true], program.output);
      assert.match(program.output, mistake);
    }

    const listed = await run(["orders", "list", "--reference", reference]);
    assert.deepEqual([listed.code, JSON.parse(listed.output).id], [0, id]);
    const timeline = await run(["orders", "timeline", id]);
    assert.match(timeline.output, /^\{.*order\.created.*\n/);
    const cancelled = await run(["orders", "cancel", id, "--reason", "a test"]);
    assert.equal(JSON.parse(cancelled.output).status, "cancelled");
    assert.equal((await run(["orders", "cancel"])).code, 2);
  });

  test("the commands decide about a failed delivery", async () => {
    const directory = await stateDirectory();
    const run = async (...parameters: string[]) => {
      const program = new Program(directory, ["orders", ...parameters]);
      return { code: await program.exitCode(), output: program.output };
    };
    const reference = newReference();
    const { orders } = client(TEST_KEY);
    const { id } = await orders.create(newOrder(reference), { idempotencyKey: reference });
    await orders.simulate(id, "driver.assigned");
    assert.equal((await run("reattempt", id)).code, 1);
    assert.match((await run("delivery-code", id)).output, /^\d{6}\n$/);
    await orders.simulate(id, "order.picked_up");
    await orders.simulate(id, "order.failed");

    const [address, broken] = [join(directory, "address.json"), join(directory, "broken.json")];
    const { delivery } = newOrder(reference);
    await writeFile(address, JSON.stringify({ ...delivery, addressLine1: "7 Residency Road" }));
    await writeFile(broken, "{");
    const corrected = JSON.parse(
      (await run("correct", id, "--phone", "+919800000009", "--file", address)).output,
    );
    assert.deepEqual(
      [corrected.customer.phone, corrected.delivery.addressLine1],
      ["+919800000009", "7 Residency Road"],
    );
    assert.equal((await run("correct", id)).code, 2);
    assert.equal((await run("correct", id, "--file", broken)).code, 2);
    assert.equal((await run("correct", id, "--phone", "98")).code, 1);

    const { reattempt } = JSON.parse((await run("reattempt", id, "--note", "ring twice")).output);
    assert.deepEqual([reattempt.number, reattempt.note], [2, "ring twice"]);
    const past = await run("reattempt", id, "--date", "2020-01-31");
    // Said once.
    assert.deepEqual([past.code, past.output.split("date must be").length], [1, 2], past.output);
    const returned = JSON.parse((await run("return", id)).output);
    assert.equal(returned.reattempt, null);
    assert.notEqual(returned.returnRequestedAt, null);
    const evidence = JSON.parse((await run("evidence", id)).output);
    assert.deepEqual([evidence.attempts.length, evidence.intact], [1, true]);
    for (const command of ["reattempt", "return", "correct", "delivery-code", "evidence"]) {
      assert.equal((await run(command)).code, 2, command);
    }
  });
});
