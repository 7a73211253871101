/** One delivery per local order, on PostgreSQL and on SQLite. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Dialect,
  type NewOrder,
  SqlSyncStore,
  Sync,
  type SyncStore,
  type Waybill,
} from "@waybill/client";
import { create, open, type Shop } from "./databases.js";
import {
  client,
  FaultyProxy,
  LIVE_KEY,
  newOrder,
  newReference,
  ONE_ATTEMPT,
  ordersAndDebits,
  TEST_KEY,
} from "./support.js";

const live = client(LIVE_KEY);
/** At each moment. */
const PROCESSES = 4;
const MOMENTS = [
  "before the claim",
  "after the claim",
  "before the request",
  "after the answer",
  "after the outcome",
];

for (const dialect of ["postgres", "sqlite"] satisfies Dialect[]) {
  describe(dialect, () => {
    let address: string;
    let shop: Shop;
    let proxy: FaultyProxy;
    before(async () => {
      address = await create(dialect);
      shop = await open(dialect, address);
      proxy = await FaultyProxy.start();
    });
    after(async () => {
      proxy.close();
      await shop.close();
    });

    function syncWith(waybill: Waybill, leaseMs?: number): Sync {
      const store = new SqlSyncStore({ query: shop.query, dialect, mode: waybill.mode });
      return new Sync({ client: waybill, store, website: "shop", ...(leaseMs && { leaseMs }) });
    }

    test("concurrent calls send one request", async () => {
      const id = newReference();
      const sync = syncWith(client(LIVE_KEY, { baseUrl: proxy.baseUrl }));
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () => sync.ensure(id, () => newOrder(id))),
      );
      const statuses = outcomes.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === "created").length, 1);
      assert.ok(
        statuses.every((status) => status !== "failed" && status !== "recovered"),
        statuses.join(),
      );
      assert.equal(proxy.seen.filter(({ key }) => key === `shop-${id}`).length, 1);
      assert.equal((await sync.ensure(id, () => assert.fail())).status, "already_created");
      // The personal data is gone; a hash still shows whether the order has changed.
      const store = new SqlSyncStore({ query: shop.query, dialect, mode: "live" });
      assert.equal((await store.get(id))?.body, undefined);
      assert.equal(await sync.hasChanged(id, newOrder(id)), false);
      assert.equal(await sync.hasChanged(id, newOrder(id, { notes: { customerNote: "ring twice" } })), true);
    });

    test("a lost answer is recovered by the same bytes, whatever the order has become", async () => {
      const id = newReference();
      proxy.faults = ["cut-after"];
      const sync = syncWith(client(LIVE_KEY, { baseUrl: proxy.baseUrl, environment: ONE_ATTEMPT }));
      const failed = await sync.ensure(id, () => newOrder(id));
      assert.ok(failed.status === "failed" && failed.error.code === "unreachable");
      const recovered = await sync.ensure(id, () => assert.fail("the stored body must be sent"));
      assert.equal(recovered.status, "recovered");
      assert.equal(await sync.hasChanged(id, newOrder(id)), false);
      assert.equal((await ordersAndDebits(live, id)).debits, 1);
    });

    test("a claim keeps the body of an attempt that may have been accepted, and ends with its lease", async () => {
      const store = new SqlSyncStore({ query: shop.query, dialect, mode: "live" });
      const id = newReference();
      const error = { code: "timeout", message: "no answer" };
      assert.deepEqual(await store.claim(id, "first", 0, 10), { attempt: 1, body: "first" });
      assert.equal(await store.claim(id, "second", 9, 19), undefined);
      assert.deepEqual(await store.claim(id, "second", 10, 20), { attempt: 2, body: "first" });
      assert.equal(await store.failed(id, 1, error, true), false);
      assert.equal(await store.failed(id, 2, error, true), true);
      assert.deepEqual(await store.claim(id, "second", 11, 21), { attempt: 3, body: "first" });
      assert.equal(await store.failed(id, 3, error, false), true);
      assert.deepEqual(await store.claim(id, "second", 12, 22), { attempt: 4, body: "second" });
    });

    test("open orders are listed, and those that are due are repeated", async () => {
      const [unreachable, refused, busy] = [newReference(), newReference(), newReference()];
      let nowMs = Date.now();
      // No other test's orders are in its table.
      const mine = await open(dialect, await create(dialect));
      const clocked = client(LIVE_KEY, {
        baseUrl: proxy.baseUrl,
        environment: { ...ONE_ATTEMPT, nowMs: () => nowMs },
      });
      const store = new SqlSyncStore({ query: mine.query, dialect, mode: "live" });
      const sync = new Sync({ client: clocked, store, website: "shop" });
      proxy.faults = ["cut-after"];
      const first = await sync.ensure(unreachable, () => newOrder(unreachable));
      assert.ok(first.status === "failed" && first.retryable && first.retryAfterMs === 30_000);
      const wrong = newOrder(refused, { payment: { paymentType: "prepaid", deliveryFeePaise: -1 } });
      const second = await sync.ensure(refused, () => wrong);
      assert.ok(second.status === "failed" && !second.retryable && second.retryAfterMs === undefined);
      [proxy.faults, proxy.retryAfter] = [[503], "90"];
      const third = await sync.ensure(busy, () => newOrder(busy));
      assert.ok(third.status === "failed" && third.retryAfterMs === 90_000);
      const openIds = async () => (await sync.open()).map(({ localOrderId }) => localOrderId).sort();
      assert.deepEqual(await openIds(), [unreachable, refused, busy].sort());

      const outcomes: string[] = [];
      const errors: (string | undefined)[] = [];
      const retry = (toWaybill: (id: string) => NewOrder) =>
        sync.retryDue(toWaybill, {
          onOutcome: (id, { status }) => outcomes.push(`${id} ${status}`),
          onError: (_, id) => errors.push(id),
        });
      nowMs += 29_999;
      await retry(() => assert.fail("nothing is due"));
      nowMs += 1;
      await retry(() => assert.fail("the stored body is sent"));
      assert.deepEqual(outcomes, [`${unreachable} recovered`]);
      // A process died during its call.
      const died = newReference();
      assert.ok(await store.claim(died, JSON.stringify(newOrder(died)), nowMs, nowMs + 1_000));
      nowMs += 60_000;
      await retry(() => assert.fail("the stored body is sent"));
      assert.deepEqual(outcomes.slice(1).sort(), [`${busy} created`, `${died} created`].sort());
      assert.deepEqual(await openIds(), [refused]);

      const stop = new AbortController();
      await store.claim(refused, JSON.stringify(wrong), nowMs, nowMs);
      await store.failed(refused, 2, { code: "http_503", message: "busy" }, false, nowMs);
      const toWaybill = () => {
        stop.abort();
        throw new Error("the order is gone");
      };
      await sync.work(toWaybill, { signal: stop.signal, onError: (_, id) => errors.push(id) });
      assert.deepEqual(errors, [refused]);
      await mine.close();
    });

    test("an order without a usable Idempotency-Key is refused before it is claimed", async () => {
      const store = new SqlSyncStore({ query: shop.query, dialect, mode: "live" });
      await assert.rejects(
        syncWith(live).ensure("1001\n", () => assert.fail()),
        TypeError,
      );
      assert.equal(await store.get("1001\n"), undefined);
      assert.throws(() => new Sync({ client: live, store, website: " shop" }), TypeError);
      for (const leaseMs of [60_999, 90_000.5]) assert.throws(() => syncWith(live, leaseMs), TypeError);
    });

    test("a fee above the balance is lowered by the next call", async () => {
      const id = newReference();
      const order = (deliveryFeePaise: number) =>
        newOrder(id, { payment: { paymentType: "prepaid", deliveryFeePaise } });
      const failed = await syncWith(live).ensure(id, () => order(2_000_000_000));
      assert.equal(failed.status === "failed" && failed.error.code, "insufficient_wallet_balance");
      assert.equal((await syncWith(live).ensure(id, () => order(4_900))).status, "created");
    });

    test("a refused body is corrected by the next call, under the same key", async () => {
      const id = newReference();
      const sync = syncWith(live);
      const wrong: NewOrder = newOrder(id, { payment: { paymentType: "prepaid", deliveryFeePaise: -1 } });
      const failed = await sync.ensure(id, () => wrong);
      assert.ok(failed.status === "failed" && failed.error.code === "invalid_request");
      assert.equal((await sync.ensure(id, async () => newOrder(id))).status, "created");
    });

    test("an order that another key created is recovered; test and live orders do not meet", async () => {
      const id = newReference();
      const first = await live.orders.create(newOrder(id), { idempotencyKey: `by-hand-${id}` });
      const sync = syncWith(live);
      const outcome = await sync.ensure(id, () => newOrder(id));
      assert.ok(outcome.status === "recovered" && outcome.delivery.id === first.id);
      // The other key may have sent another body.
      assert.equal(await sync.hasChanged(id, newOrder(id)), true);
      assert.equal((await syncWith(client(TEST_KEY)).ensure(id, () => newOrder(id))).status, "created");
    });

    test("a success that arrives after another claim keeps the hash of its own body", async () => {
      const id = newReference();
      const edited = newOrder(id, { notes: { customerNote: "ring twice" } });
      const store = new SqlSyncStore({ query: shop.query, dialect, mode: live.mode });
      const overtaken: SyncStore = {
        claim: (...details) => store.claim(...details),
        failed: (...details) => store.failed(...details),
        get: (localOrderId) => store.get(localOrderId),
        open: (...details) => store.open(...details),
        created: async (...details) => {
          await store.failed(id, 1, { code: "internal", message: "The process stalled." }, false);
          assert.ok(await store.claim(id, JSON.stringify(edited), Date.now(), Date.now() + 60_000));
          await store.created(...details);
        },
      };
      const sync = new Sync({ client: live, store: overtaken, website: "shop" });
      assert.equal((await sync.ensure(id, () => newOrder(id))).status, "created");
      assert.equal(await sync.hasChanged(id, edited), true);
      assert.equal(await sync.hasChanged(id, newOrder(id)), false);
    });

    test("a key whose order is known to the service is recovered after the record was lost, unless it is another order", async () => {
      const id = newReference();
      const first = await live.orders.create(newOrder(id), { idempotencyKey: `shop-${id}` });
      const edited = newOrder(id, { notes: { customerNote: "ring twice" } });
      const outcome = await syncWith(live).ensure(id, () => edited);
      assert.ok(outcome.status === "recovered" && outcome.delivery.id === first.id, JSON.stringify(outcome));
      assert.equal((await ordersAndDebits(live, id)).debits, 1);
      assert.equal(await syncWith(live).hasChanged(id, edited), true);
      // The keys of two websites meet: "shop" with order "a-1", and "shop-a" with order "1".
      const other = newReference();
      await live.orders.create(newOrder(`another-${other}`), { idempotencyKey: `shop-${other}` });
      const failed = await syncWith(live).ensure(other, () => newOrder(other));
      assert.ok(failed.status === "failed" && failed.error.code === "idempotency_key_reused");
      assert.match(failed.error.message, new RegExp(`another-${other}`));
    });

    test(`${MOMENTS.length * PROCESSES} processes, killed at each step: one order, one debit`, async () => {
      const id = newReference();
      for (const [minutes, moment] of MOMENTS.entries()) {
        const processes = Array.from({ length: PROCESSES }, () => run(dialect, address, id, moment, minutes));
        const ends = await Promise.all(processes);
        assert.ok(ends.includes("SIGKILL"), `nobody died ${moment}: ${ends.join()}`);
        assert.ok(!ends.includes("failed") && !ends.includes("created"), ends.join());
      }
      assert.equal(await run(dialect, address, id, "never", MOMENTS.length), "already_created");
      const { orders, debits } = await ordersAndDebits(live, id);
      assert.deepEqual([orders.length, debits], [1, 1]);
    });
  });
}

/** Returns the outcome that the process printed, or the signal that ended it. */
async function run(
  dialect: Dialect,
  address: string,
  id: string,
  moment: string,
  minutes: number,
): Promise<string> {
  const script = fileURLToPath(new URL("sync-child.js", import.meta.url));
  const child = spawn(process.execPath, [script, dialect, address, id, moment, String(minutes)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code, signal] = await once(child, "close");
  assert.ok(signal || code === 0, `the process ended with ${code}`);
  return signal ?? output.trim();
}
