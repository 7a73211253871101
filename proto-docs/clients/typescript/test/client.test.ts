/** The client against a real stack, directly and through a proxy that fails. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, beforeEach, describe, test } from "node:test";
import { inspect } from "node:util";
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  type ExchangeResult,
  InvalidRequestError,
  NoAnswerError,
  OrderExistsError,
  PermissionError,
  ServerError,
  Waybill,
} from "@waybill/client";
import {
  BASE_URL,
  client,
  eventually,
  type Fault,
  FaultyProxy,
  LIVE_KEY,
  newOrder,
  newReference,
  ONE_ATTEMPT,
  ordersAndDebits,
  TEST_KEY,
} from "./support.js";

const test_ = client(TEST_KEY);
const live = client(LIVE_KEY);

async function failure<E extends Error>(
  type: new (...args: never[]) => E,
  call: Promise<unknown>,
): Promise<E> {
  const error = await call.then(
    () => undefined,
    (thrown) => thrown,
  );
  assert.ok(error instanceof type, `${inspect(error)} is no ${type.name}`);
  return error;
}

describe("through a network that fails", () => {
  let proxy: FaultyProxy;
  before(async () => {
    proxy = await FaultyProxy.start();
  });
  after(() => proxy.close());
  beforeEach(() => {
    proxy.faults = [];
    proxy.seen = [];
    proxy.retryAfter = "0";
  });

  const faults: Fault[][] = [["cut-before"], ["cut-after"], ["hang"], [429], [503], [500], [408]];
  for (const sequence of [...faults, ["cut-after", 503, "cut-after", 429] as Fault[]]) {
    test(`${sequence.join(", ")}: one order, one debit, the same bytes`, async () => {
      const environment = { jitter: () => 0, sleep: async () => {} };
      const hangs = sequence.includes("hang");
      // Only what hangs needs a short limit: on a busy machine, an order may take longer.
      const waybill = client(LIVE_KEY, {
        baseUrl: proxy.baseUrl,
        attemptTimeoutMs: hangs ? 3_000 : 15_000,
        environment,
      });
      const reference = newReference();
      proxy.faults = [...sequence];
      const created = await waybill.orders.create(newOrder(reference), {
        idempotencyKey: `shop-${reference}`,
      });
      const attempts = sequence.length + 1;
      assert.ok(hangs ? proxy.seen.length >= attempts : proxy.seen.length === attempts, inspect(proxy.seen));
      assert.equal(new Set(proxy.seen.map(({ body, key }) => `${key} ${body}`)).size, 1);
      // A timeline has no money while the wallet service is too busy to answer.
      const { orders, debits } = await eventually(async () => {
        const found = await ordersAndDebits(live, reference);
        return found.debits > 0 ? found : undefined;
      }, "a debit in the timeline");
      assert.deepEqual([orders.map((order) => order.id), debits], [[created.id], 1]);
    });
  }

  test("a call ends at its deadline, and an attempt with it", async (context) => {
    let now = 0;
    const sleep = async (ms: number) => {
      now += ms;
    };
    // A clock that is set back does not move the deadline.
    const environment = { nowMs: () => -now, monotonicMs: () => now, sleep, jitter: () => 0.5 };
    proxy.faults = [503, 503, 503, 503, 503];
    const patient = client(TEST_KEY, { baseUrl: proxy.baseUrl, deadlineMs: 7_000, environment });
    const options = { idempotencyKey: newReference() };
    await failure(ServerError, patient.orders.create(newOrder(newReference()), options));
    assert.deepEqual([proxy.seen.length, now], [4, 3_500]);

    // On a busy machine its request may arrive after this test.
    const silent = await FaultyProxy.start();
    context.after(() => silent.close());
    silent.faults = ["hang"];
    const hasty = client(TEST_KEY, { baseUrl: silent.baseUrl, deadlineMs: 100, environment });
    assert.equal(
      (await failure(NoAnswerError, hasty.orders.create(newOrder(newReference()), options))).code,
      "timeout",
    );
  });

  test("Retry-After is honoured, or the call ends if it is too long", async () => {
    const pauses: number[] = [];
    const sleep = async (ms: number) => void pauses.push(ms);
    const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl, environment: { sleep, jitter: () => 0.5 } });
    proxy.faults = [503, 503];
    await waybill.orders.create(newOrder(newReference()), { idempotencyKey: newReference() });
    assert.deepEqual(pauses, [500, 1_000]);
    proxy.retryAfter = "7";
    proxy.faults = [429];
    await waybill.orders.create(newOrder(newReference()), { idempotencyKey: newReference() });
    assert.equal(pauses.at(-1), 7_000);
    proxy.retryAfter = "61";
    proxy.faults = [503];
    await failure(ServerError, waybill.orders.get("ord_1"));
    assert.equal(pauses.length, 3);
  });

  test("a simulated move is never sent twice", async () => {
    const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl });
    const order = await waybill.orders.create(newOrder(newReference()), { idempotencyKey: newReference() });
    proxy.seen = [];
    proxy.faults = ["cut-after"];
    await failure(NoAnswerError, waybill.orders.simulate(order.id, "driver.assigned"));
    assert.equal(proxy.seen.length, 1);
    assert.equal((await waybill.orders.get(order.id)).status, "driver_assigned");
  });

  test("an abort ends the call", async () => {
    proxy.faults = ["hang"];
    const abort = new AbortController();
    const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl });
    const aborted = assert.rejects(waybill.orders.get("ord_1", { signal: abort.signal }), {
      name: "AbortError",
    });
    await eventually(() => proxy.seen.length > 0, "the request");
    abort.abort();
    await aborted;
    assert.equal(proxy.seen.length, 1);
  });
});

describe("answers", () => {
  test("a repeated key replays the first answer, and another body is refused", async () => {
    const reference = newReference();
    const options = { idempotencyKey: reference };
    const first = await test_.orders.create(newOrder(reference), options);
    const second = await test_.orders.create(newOrder(reference), options);
    assert.deepEqual([first.replayed, second.replayed, second.id], [false, true, first.id]);
    const changed = newOrder(reference, { payment: { paymentType: "prepaid", deliveryFeePaise: 5000 } });
    const error = await failure(InvalidRequestError, test_.orders.create(changed, options));
    assert.deepEqual([error.status, error.code], [422, "idempotency_key_reused"]);
  });

  test("an existing reference carries its order", async () => {
    const reference = newReference();
    const first = await test_.orders.create(newOrder(reference), { idempotencyKey: `a-${reference}` });
    const again = test_.orders.create(newOrder(reference), { idempotencyKey: `b-${reference}` });
    const error = await failure(OrderExistsError, again);
    assert.deepEqual([error.order.id, error.order.trackingUrl], [first.id, first.trackingUrl]);
  });

  test("a 400 names every field, with the id of the request", async () => {
    const wrong = newOrder("", { payment: { paymentType: "prepaid", deliveryFeePaise: 0 } });
    const error = await failure(InvalidRequestError, test_.orders.create(wrong, { idempotencyKey: "wrong" }));
    assert.deepEqual(error.errors.map(({ field }) => field).sort(), [
      "orderReference",
      "payment.deliveryFeePaise",
    ]);
    assert.match(error.requestId ?? "", /^req_/);
  });

  test("a fee above the balance is a shortfall", async () => {
    const reference = newReference();
    const payment = { paymentType: "prepaid", deliveryFeePaise: 100_000_000_000 } as const;
    const error = await failure(
      ApiError,
      live.orders.create(newOrder(reference, { payment }), { idempotencyKey: reference }),
    );
    assert.equal(error.name, "InsufficientBalanceError");
    assert.equal(error.shortfallPaise, (error.requiredPaise ?? 0) - (error.balancePaise ?? 0));
  });

  test("a live key simulates nothing, and an order is cancelled once", async () => {
    const reference = newReference();
    const order = await live.orders.create(newOrder(reference), { idempotencyKey: reference });
    await failure(PermissionError, live.orders.simulate(order.id, "auto"));
    const cancelled = await live.orders.cancel(order.id, { reason: "changed their mind" });
    assert.deepEqual([cancelled.status, cancelled.reason], ["cancelled", "changed their mind"]);
    assert.equal((await live.orders.cancel(order.id)).status, "cancelled");
    const moved = await test_.orders.create(newOrder(reference), { idempotencyKey: reference });
    for (const event of ["driver.assigned", "order.picked_up"] as const)
      await test_.orders.simulate(moved.id, event);
    assert.equal((await failure(ConflictError, test_.orders.cancel(moved.id))).code, "order_not_cancellable");
    assert.equal(
      (await test_.orders.correctDelivery(moved.id, { phone: "+919800000009" })).customer.phone,
      "+919800000009",
    );
    await test_.orders.simulate(moved.id, "order.failed");
    const again = await test_.orders.reattempt(moved.id, { note: "ring twice" });
    assert.deepEqual([again.reattempt?.number, again.reattempt?.note], [2, "ring twice"]);
    assert.notEqual((await test_.orders.requestReturn(moved.id)).returnRequestedAt, null);
    const code = await test_.orders.issueDeliveryCode(moved.id);
    assert.equal(await test_.orders.issueDeliveryCode(moved.id), code);
    const evidence = await test_.orders.evidence(moved.id);
    assert.deepEqual([evidence.attempts.length, evidence.intact], [1, true]);
    assert.equal(
      (await failure(ConflictError, live.orders.reattempt(order.id))).code,
      "reattempt_not_possible",
    );
  });

  test("lists continue over pages", async () => {
    const ids = new Set<string>();
    for (let n = 0; n < 3; n += 1) {
      const reference = newReference();
      ids.add((await test_.orders.create(newOrder(reference), { idempotencyKey: reference })).id);
    }
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const filters of [{ limit: 1 }, { limit: 1, updatedAfter: since }]) {
      const missing = new Set(ids);
      for await (const order of test_.orders.list(filters)) {
        missing.delete(order.id);
        if (missing.size === 0) break;
      }
      assert.equal(missing.size, 0);
    }
    const [id = ""] = ids;
    const found: string[] = [];
    for await (const order of test_.orders.list({ search: id, createdFrom: since })) found.push(order.id);
    assert.deepEqual(found, [id]);
  });
});

test("an answer of another program is no answer of the service, whatever its fields are", async () => {
  const proxy = await FaultyProxy.start();
  const impatient = client(TEST_KEY, { baseUrl: proxy.baseUrl, environment: ONE_ATTEMPT });
  const id = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
  proxy.faults = [200, 502, 409];
  proxy.said = '{"message":{"a":1},"code":"order_reference_exists","errors":"x","order":{"id":1}}';
  assert.equal((await failure(NoAnswerError, impatient.orders.get(id))).code, "unusable_answer");
  const error = await failure(ServerError, impatient.orders.get(id));
  assert.deepEqual([error.message, error.errors], ["The service answered 502.", []]);
  assert.equal((await failure(ConflictError, impatient.orders.get(id))).name, "ConflictError");
  proxy.close();
});

test("a timeline names the services whose entries are missing", async () => {
  const proxy = await FaultyProxy.start();
  const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl });
  proxy.faults = [200];
  proxy.said = '{"data":[],"hasMore":false,"incomplete":["wallet"]}';
  const missing: string[] = [];
  const onIncomplete = (services: readonly string[]) => missing.push(...services);
  const timeline = waybill.orders.timeline("ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", {}, { onIncomplete });
  assert.equal((await timeline.next()).done, true);
  assert.deepEqual(missing, ["wallet"]);
  proxy.close();
});

describe("keys", () => {
  test("are redacted in errors, dumps and hooks", async () => {
    const results: ExchangeResult[] = [];
    const apiKey = `${TEST_KEY.slice(0, -1)}${TEST_KEY.endsWith("0") ? "1" : "0"}`;
    const waybill = client(apiKey, { onResponse: (result) => results.push(result), appInfo: "shop/1" });
    const error = await failure(AuthenticationError, waybill.orders.get("ord_1"));
    const shown = [
      inspect(error, { depth: 9 }),
      inspect(waybill, { depth: 9, showHidden: true }),
      JSON.stringify(waybill),
    ];
    shown.push(inspect(results, { depth: 9 }), String(error.stack));
    assert.ok(shown.every((text) => !text.includes(apiKey.slice(12))));
    assert.equal(results[0]?.headers.authorization, "Bearer sk_test_…");
    assert.match(
      results[0]?.headers["user-agent"] ?? "",
      /^waybill-typescript\/\d+\.\d+\.\d+ node\/.* shop\/1$/,
    );
    assert.deepEqual([results[0]?.status, results[0]?.requestId], [401, error.requestId]);
    assert.throws(
      () => client(`${apiKey}\n`),
      (thrown: Error) => !thrown.message.includes(apiKey),
    );
  });

  test("wrong arguments are refused before any call", async () => {
    assert.throws(() => new Waybill({ apiKey: TEST_KEY, baseUrl: "https://api.example" }), TypeError);
    assert.throws(() => new Waybill({ apiKey: "", baseUrl: BASE_URL }), TypeError);
    await assert.rejects(test_.orders.create(newOrder("x"), { idempotencyKey: "" }), TypeError);
    await assert.rejects(test_.orders.get("../orders"), TypeError);
  });

  test("the key and the URL come from the environment unless they are given", async (context) => {
    const { WAYBILL_API_KEY, WAYBILL_BASE_URL } = process.env;
    context.after(() => Object.assign(process.env, { WAYBILL_API_KEY, WAYBILL_BASE_URL }));
    Object.assign(process.env, { WAYBILL_API_KEY: LIVE_KEY, WAYBILL_BASE_URL: BASE_URL });
    assert.equal(new Waybill().mode, "live");
    await new Waybill().events.page({ limit: 1 });
    assert.equal(new Waybill({ apiKey: TEST_KEY }).mode, "test");
    assert.throws(() => new Waybill({ apiKey: "" }), {
      name: "TypeError",
      message: /WAYBILL_API_KEY .*apiKey/,
    });
    for (const [name, option] of [
      ["WAYBILL_BASE_URL", "baseUrl"],
      ["WAYBILL_API_KEY", "apiKey"],
    ] as const) {
      process.env[name] = "";
      assert.throws(() => new Waybill(), { name: "TypeError", message: new RegExp(`${name} .*${option}`) });
      delete process.env[name];
      assert.throws(() => new Waybill(), { name: "TypeError", message: new RegExp(`${name} .*${option}`) });
    }
  });

  test("are redacted wherever a text or an answer contains them", async (context) => {
    const proxy = await FaultyProxy.start();
    context.after(() => proxy.close());
    const urls: string[] = [];
    const onRequest = ({ url }: { url: string }) => urls.push(url);
    const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl, environment: ONE_ATTEMPT, onRequest });
    proxy.said = JSON.stringify({
      code: TEST_KEY,
      missing: [TEST_KEY],
      errors: [{ field: TEST_KEY, message: "x" }],
    });
    proxy.faults = [401, 403];
    for (const type of [AuthenticationError, PermissionError]) {
      const error = await failure(type, waybill.events.page({ startingAfter: `"${TEST_KEY}"` }));
      assert.ok(!inspect(error, { depth: 9 }).includes(TEST_KEY.slice(12)), inspect(error));
      assert.deepEqual(error.missing, ["sk_test_…"]);
      assert.deepEqual(error.body.missing, ["sk_test_…"]);
    }
    assert.ok(
      urls.every((url) => url.includes("%22sk_test_…") && !url.includes(TEST_KEY.slice(12))),
      urls[0],
    );
  });

  test("values of an order that look like keys stay as they are", async (context) => {
    const proxy = await FaultyProxy.start();
    context.after(() => proxy.close());
    const order = { id: "ord_1", trackingCode: "c", trackingUrl: "u", status: "created" };
    const orderReference = "desk-sk_test_17";
    const code = "order_reference_exists";
    // Behind an escape, and with one inside, the key is still found.
    const message = `"key:\\n${TEST_KEY.slice(0, -1)}\\u00${TEST_KEY.charCodeAt(TEST_KEY.length - 1).toString(16)}"`;
    const body = JSON.stringify({ code, order: { ...order, orderReference } });
    proxy.said = `{"message":${message},${body.slice(1)}`;
    proxy.faults = [409];
    const call = client(TEST_KEY, { baseUrl: proxy.baseUrl }).orders.create(newOrder("1"), {
      idempotencyKey: "1",
    });
    const error = await failure(OrderExistsError, call);
    assert.equal(error.message, "key: sk_test_…");
    assert.equal(error.order.orderReference, orderReference);
    const text = "risk_live_1 desk_test_17 (sk_live_1)";
    const { redact } = await import(new URL("../redact.js", import.meta.url).href);
    assert.equal(redact(text), "risk_live_1 desk_test_17 (sk_live_…)");
    assert.equal(redact(`n${LIVE_KEY}`), "nsk_live_…");
  });

  test("a Live key is sent over plain http to this machine only", async () => {
    const file = new URL("../../../vectors/live-urls.json", import.meta.url);
    const { allowed, refused } = JSON.parse(await readFile(file, "utf8"));
    for (const baseUrl of allowed) new Waybill({ apiKey: LIVE_KEY, baseUrl });
    for (const baseUrl of refused) {
      new Waybill({ apiKey: TEST_KEY, baseUrl });
      const refusal = { name: "TypeError", message: /https/ };
      assert.throws(() => new Waybill({ apiKey: LIVE_KEY, baseUrl }), refusal, baseUrl);
    }
  });

  test("times are whole and at most a day", () => {
    for (const ms of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001]) {
      assert.throws(() => client(TEST_KEY, { attemptTimeoutMs: ms }), TypeError, String(ms));
      assert.throws(() => client(TEST_KEY, { deadlineMs: ms }), TypeError, String(ms));
    }
    client(TEST_KEY, { attemptTimeoutMs: 86_400_000, deadlineMs: 1 });
  });

  test("the version is the package's", async () => {
    const { VERSION } = await import(new URL("../version.js", import.meta.url).href);
    const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
    assert.equal(VERSION, manifest.version);
  });
});
