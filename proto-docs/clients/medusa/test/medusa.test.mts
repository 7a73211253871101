/** A real Medusa with the packed provider, next to a real stack, through a proxy that loses answers. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Order, Waybill } from "@waybill/client";
import { ADDRESS, buy, type Catalogue, createCatalogue } from "./catalogue.mjs";
import { LossyProxy } from "./proxy.mjs";
import {
  type Answer,
  type Database,
  eventually,
  freePort,
  ok,
  openDatabase,
  Shop,
  variable,
  writeReadmeFiles,
} from "./shop.mjs";

const SHOP = variable("SHOP");
const BASE_URL = `${variable("ORDER_API")}/v1`;
const CLI = fileURLToPath(new URL("../../../../typescript/dist/cli/main.js", import.meta.url));
/** Medusa compiles and runs much at its start. */
const TIMEOUT = { timeout: 600_000 };

const client: typeof import("@waybill/client") = await import(
  pathToFileURL(join(SHOP, "node_modules/@waybill/client/dist/index.js")).href
);
const waybill = (apiKey: string): Waybill => new client.Waybill({ apiKey, baseUrl: BASE_URL });
const testOrders = waybill(variable("TEST_KEY")).orders;
const proxy = new LossyProxy(BASE_URL);
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

let shop: Shop;
let catalogue: Catalogue;
let cliEnv: NodeJS.ProcessEnv;
let state: string;
let secret: string;
let database: Database;
let listener: ChildProcess | undefined;
/** What the listener printed. */
let printed = "";
/** The delivery of a fulfilment whose cancellation was refused. */
let uncancelled: { orderId: string; deliveryId: string } | undefined;

before(async () => {
  await writeReadmeFiles();
  state = await mkdtemp(join(tmpdir(), "medusa-"));
  const own = { WAYBILL_STATE_DIRECTORY: state, WAYBILL_API_KEY: variable("TEST_KEY") };
  cliEnv = { ...process.env, ...own, WAYBILL_BASE_URL: BASE_URL };
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, "listen", "--print-secret"], {
    env: cliEnv,
  });
  secret = stdout.trim();
  const databaseUrl = await createDatabase();
  database = openDatabase(databaseUrl);
  shop = new Shop(await freePort(), {
    ...own,
    WAYBILL_BASE_URL: await proxy.start(),
    WAYBILL_WEBHOOK_SECRET: secret,
    DATABASE_URL: databaseUrl,
  });
  await shop.migrate();
  await shop.start();
  catalogue = await createCatalogue(shop);
}, TIMEOUT);

after(async () => {
  listener?.kill();
  proxy.close();
  await shop?.stop();
  await database?.end();
  if (state) await rm(state, { recursive: true, force: true });
});

test("an order with an unusable address is refused; corrected, it is fulfilled", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1, "delivery", { phone: "", postal_code: "1" });
  const refused = await fulfil(orderId, lineId, 1);
  assert.equal(refused.status, 400);
  assert.match(
    refused.body.message,
    /has no phone number.*PIN code of six digits.*Then fulfil the items again/,
  );
  ok(await shop.admin("POST", `/orders/${orderId}`, { shipping_address: ADDRESS }));
  ok(await fulfil(orderId, lineId, 1));
  const [order] = await deliveriesOf(orderId);
  assert.equal(order?.orderReference, `${orderId}-1`);
  assert.equal(order?.customer.phone, "+919800000001");
  assert.deepEqual(order?.package.items, [{ name: "Arabica", quantity: 1, pricePaise: 49950 }]);
  assert.equal(order?.package.weightKg, 0.25);
  assert.equal(order?.payment.deliveryFeePaise, 4900);
  const [fulfillment] = await fulfillmentsOf(orderId);
  const { trackingCode, trackingUrl } = order ?? {};
  const [label] = fulfillment.labels;
  assert.deepEqual(
    [label.tracking_number, label.tracking_url, label.label_url],
    [trackingCode, trackingUrl, trackingUrl],
  );
});

test("a recipient that is changed for one fulfilment gets its delivery", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  ok(await fulfil(orderId, lineId, 1, { delivery_address: { ...ADDRESS, address_1: "7 Residency Road" } }));
  const [order] = await deliveriesOf(orderId);
  assert.equal(order?.delivery.addressLine1, "7 Residency Road");
});

test("an order that the service refuses is refused with its reason", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1, "delivery", { address_1: "\u200b" });
  const refused = await fulfil(orderId, lineId, 1);
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /The delivery service refused the order. delivery.addressLine1: /);
  ok(await shop.admin("POST", `/orders/${orderId}`, { shipping_address: ADDRESS }));
  ok(await fulfil(orderId, lineId, 1));
  assert.equal((await deliveriesOf(orderId)).length, 1);
});

test("a fulfilment whose answer was cut off is one delivery after the retry", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 3);
  proxy.created = [];
  proxy.onCreated = () => false;
  const lost = await fulfil(orderId, lineId, 2);
  assert.equal(lost.status, 500);
  assert.match(
    lost.body.message,
    /did not answer as expected .*Fulfil the same items again: they get one delivery/,
  );
  assert.deepEqual(await fulfillmentsOf(orderId), []);
  proxy.onCreated = () => true;

  const others = await fulfil(orderId, lineId, 1);
  assert.equal(others.status, 400);
  assert.match(others.body.message, /An earlier attempt with other items/);
  ok(await fulfil(orderId, lineId, 2));
  assert.ok(proxy.created.length >= 3);
  assert.equal(new Set(proxy.created.map(({ key, body }) => `${key} ${body}`)).size, 1);
  assert.equal(proxy.created[0]?.key, `medusa-${orderId}-1`);
  assert.equal((await deliveriesOf(orderId)).length, 1);
  assert.equal((await fulfillmentsOf(orderId)).length, 1);

  ok(await fulfil(orderId, lineId, 1));
  assert.match((await fulfil(orderId, lineId, 1)).body.message, /Fewer items are left/);
  assert.deepEqual(await referencesOf(orderId), [`${orderId}-1`, `${orderId}-2`]);
});

test("an address that is corrected after an attempt is not ignored", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  const links = "NEW.attempt = OLD.attempt AND NEW.attempted_at_ms > 0";
  assert.equal((await withRefusedUpdates(links, () => fulfil(orderId, lineId, 1))).status, 500);
  const corrected = { ...ADDRESS, address_1: "7 Residency Road" };
  ok(await shop.admin("POST", `/orders/${orderId}`, { shipping_address: corrected }));
  const [first] = await deliveriesOf(orderId);
  const refused = await fulfil(orderId, lineId, 1);
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /of an earlier attempt has other data.*Or cancel that delivery/);
  assert.ok(refused.body.message.includes(first?.trackingCode));
  await testOrders.cancel(first?.id ?? "");
  assert.match((await fulfil(orderId, lineId, 1)).body.message, /has ended/);
  ok(await fulfil(orderId, lineId, 1));
  const streets = (await deliveriesOf(orderId)).map(({ status, delivery }) => [
    status,
    delivery.addressLine1,
  ]);
  assert.deepEqual(streets, [
    ["cancelled", "12th Main Road"],
    ["created", "7 Residency Road"],
  ]);
});

test("an address that is corrected after a request was lost is used", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  proxy.blocked = /\/orders$/;
  assert.equal((await fulfil(orderId, lineId, 1)).status, 500);
  proxy.blocked = undefined;
  const corrected = { ...ADDRESS, address_1: "7 Residency Road" };
  ok(await shop.admin("POST", `/orders/${orderId}`, { shipping_address: corrected }));
  ok(await fulfil(orderId, lineId, 1));
  const streets = (await deliveriesOf(orderId)).map(({ delivery }) => delivery.addressLine1);
  assert.deepEqual(streets, ["7 Residency Road"]);
});

test("after a restored backup, another parcel's delivery is not used", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 3);
  ok(await fulfil(orderId, lineId, 2));
  await database.query("DELETE FROM waybill_fulfillments WHERE order_id = $1", [orderId]);
  await database.query("DELETE FROM waybill_sync WHERE local_order_id = $1", [`${orderId}-1`]);
  for (const _ of ["first", "again"]) {
    assert.match((await fulfil(orderId, lineId, 1)).body.message, /of an earlier attempt has other data/);
  }
  const [other] = await deliveriesOf(orderId);
  await testOrders.simulate(other?.id ?? "", "auto");
  await eventually(async () => (await deliveriesOf(orderId))[0]?.status === "delivered", "its delivery");
  const { message } = (await fulfil(orderId, lineId, 1)).body;
  assert.match(message, /was delivered with other data.*do not send them again/);
  assert.ok(message.includes(other?.trackingCode));
  ok(await fulfil(orderId, lineId, 1));
  const [, own] = await deliveriesOf(orderId);
  assert.deepEqual([own?.orderReference, own?.package.totalItems], [`${orderId}-2`, 1]);
});

test("a fulfilment that Medusa links late keeps its delivery", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  const text = "SELECT attempt FROM waybill_fulfillments WHERE order_id = $1";
  const attempts = async () => (await database.query(text, [orderId])).rows[0].attempt;
  const [late, second] = await whileLocked("order_fulfillment", async (waiting) => {
    const first = fulfil(orderId, lineId, 1);
    await eventually(async () => (await waiting()) > 0, "the wait for the link");
    await setTime("attempted_at_ms", orderId, 0);
    const other = fulfil(orderId, lineId, 1);
    await eventually(async () => (await attempts()) === 2, "the second attempt");
    return [first, other] as const;
  });
  ok(await late);
  assert.notEqual((await second).status, 200);
  const held = (await fulfillmentsOf(orderId)).find(({ canceled_at: at }) => !at);
  assert.deepEqual(
    (await deliveriesOf(orderId)).map(({ id, status }) => [id, status]),
    [[held.data.deliveryId, "created"]],
  );
  ok(await shop.admin("POST", `/orders/${orderId}/fulfillments/${held.id}/cancel`, {}));
  assert.equal((await deliveriesOf(orderId))[0]?.status, "cancelled");
});

test("a delivery that was cancelled before the retry is not used again", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  proxy.onCreated = () => false;
  assert.equal((await fulfil(orderId, lineId, 1)).status, 500);
  proxy.onCreated = () => true;
  const [lost] = await deliveriesOf(orderId);
  await testOrders.cancel(lost?.id ?? "");
  assert.match((await fulfil(orderId, lineId, 1)).body.message, /has ended.*Then fulfil the items again/);
  ok(await fulfil(orderId, lineId, 1));
  const statuses = (await deliveriesOf(orderId)).map(({ status }) => status);
  assert.deepEqual(statuses, ["cancelled", "created"]);
});

test(
  "concurrent calls for the same items leave one delivery, which the fulfilment can cancel",
  TIMEOUT,
  async () => {
    const { orderId } = await contest();
    // A late call may get a second delivery, which Medusa cancels at once, because nothing is left to fulfil.
    const open = (await deliveriesOf(orderId)).filter(({ status }) => status !== "cancelled");
    const held = (await fulfillmentsOf(orderId)).filter(({ canceled_at: at }) => !at);
    assert.deepEqual(
      held.map(({ data }) => data.deliveryId),
      open.map(({ id }) => id),
    );
    assert.equal(open.length, 1);
    ok(await shop.admin("POST", `/orders/${orderId}/fulfillments/${held[0].id}/cancel`, {}));
    for (const { status } of await deliveriesOf(orderId)) assert.equal(status, "cancelled");
  },
);

test("a second click during a slow call does not take its delivery over", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  let second: Promise<Answer> | undefined;
  proxy.onCreated = async () => {
    second ??= fulfil(orderId, lineId, 1);
    assert.match((await second).body.message, /is being created/);
    return true;
  };
  ok(await fulfil(orderId, lineId, 1));
  proxy.onCreated = () => true;
  assert.ok(second);
  const [held] = await fulfillmentsOf(orderId);
  ok(await shop.admin("POST", `/orders/${orderId}/fulfillments/${held.id}/cancel`, {}));
  for (const { status } of await deliveriesOf(orderId)) assert.equal(status, "cancelled");
});

test("a cancelled fulfilment cancels its delivery; the next one is a new delivery", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 2);
  ok(await fulfil(orderId, lineId, 1));
  ok(await fulfil(orderId, lineId, 1));
  const first = (await fulfillmentsOf(orderId)).find(({ data }) => data.reference === `${orderId}-1`);
  ok(await shop.admin("POST", `/orders/${orderId}/fulfillments/${first.id}/cancel`, {}));
  ok(await fulfil(orderId, lineId, 1));
  const statuses = (await deliveriesOf(orderId)).map(({ orderReference, status }) => [
    orderReference,
    status,
  ]);
  assert.deepEqual(statuses, [
    [`${orderId}-1`, "cancelled"],
    [`${orderId}-2`, "created"],
    [`${orderId}-3`, "created"],
  ]);
});

test("cash on delivery collects the order's total, for the whole order", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 2, "cod");
  const part = await fulfil(orderId, lineId, 1);
  assert.match(part.body.message, /Cash on delivery: fulfil all items of the order at once/);
  ok(await fulfil(orderId, lineId, 2));
  const [order] = await deliveriesOf(orderId);
  assert.deepEqual([order?.payment.paymentType, order?.payment.codAmountPaise], ["cod", 104800]);
});

test("cash on delivery collects what is still to be paid", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 2, "cod");
  const fields = "fields=id,*payment_collections.payments";
  const { order } = ok(await shop.admin("GET", `/orders/${orderId}?${fields}`));
  const [payment] = order.payment_collections[0].payments;
  ok(await shop.admin("POST", `/payments/${payment.id}/capture`, { amount: 500.5 }));
  ok(await fulfil(orderId, lineId, 2));
  assert.equal((await deliveriesOf(orderId))[0]?.payment.codAmountPaise, 54750);
});

test("a parcel that the driver has cannot be cancelled", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  ok(await fulfil(orderId, lineId, 1));
  const [order] = await deliveriesOf(orderId);
  for (const event of ["driver.assigned", "order.picked_up"] as const) {
    await testOrders.simulate(order?.id ?? "", event);
  }
  const [fulfillment] = await fulfillmentsOf(orderId);
  const refused = await shop.admin("POST", `/orders/${orderId}/fulfillments/${fulfillment.id}/cancel`, {});
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /The delivery cannot be cancelled: /);
  assert.equal((await fulfillmentsOf(orderId))[0].canceled_at, null);
  uncancelled = { orderId, deliveryId: order?.id ?? "" };
});

test("events: shipped, delivered, cancelled by the service, failed", TIMEOUT, async () => {
  listener = spawn(process.execPath, [CLI, "listen", "--forward-to", `${shop.origin}/hooks/delivery`], {
    env: cliEnv,
    stdio: ["ignore", "pipe", "inherit"],
  });
  listener.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await eventually(() => printed.includes("Ready"), "the first poll");

  assert.ok(uncancelled);
  const { orderId: uncancelledId, deliveryId } = uncancelled;
  for (const event of ["order.out_for_delivery", "order.delivered"] as const) {
    await testOrders.simulate(deliveryId, event);
  }
  await eventually(
    async () => (await fulfillmentsOf(uncancelledId)).find(({ delivered_at: at }) => at),
    "the delivery after a refused cancellation",
  );
  const [delivered, cancelled, failed] = await Promise.all([sell(), sell(), sell()]);
  const { orderId: contested } = await contest();
  for (const { id, status } of await deliveriesOf(contested)) {
    if (status === "created") await testOrders.simulate(id, "auto");
  }
  await testOrders.simulate(delivered.deliveryId, "auto");
  await testOrders.cancel(cancelled.deliveryId, { reason: "by the service" });
  for (const event of ["driver.assigned", "order.picked_up", "order.failed"] as const) {
    await testOrders.simulate(failed.deliveryId, event);
  }
  const fulfillment = await eventually(
    async () => (await fulfillmentsOf(delivered.orderId)).find(({ delivered_at: at }) => at),
    "the delivery in Medusa",
  );
  await eventually(
    async () => (await fulfillmentsOf(contested)).find(({ delivered_at: at }) => at),
    "the delivery after concurrent calls",
  );
  assert.ok(fulfillment.shipped_at);
  assert.equal(fulfillment.labels.length, 1);
  assert.equal(fulfillment.labels[0].tracking_url, fulfillment.data.trackingUrl);
  const { order } = ok(await shop.admin("GET", `/orders/${delivered.orderId}`));
  assert.equal(order.fulfillment_status, "delivered");
  await eventually(
    async () => (await fulfillmentsOf(cancelled.orderId)).find(({ canceled_at: at }) => at),
    "the cancellation in Medusa",
  );
  await eventually(
    async () => (await fulfillmentsOf(failed.orderId))[0].metadata?.delivery_status === "failed",
    "the note of the failure",
  );
  await testOrders.simulate(failed.deliveryId, "driver.assigned");
  await eventually(
    async () => (await fulfillmentsOf(failed.orderId))[0].metadata?.delivery_status === "driver_assigned",
    "the note of another attempt",
  );
  ok(await fulfil(cancelled.orderId, cancelled.lineId, 1));
  assert.equal((await deliveriesOf(cancelled.orderId)).length, 2);
  assert.match(printed, /order\.delivered .* attempt \d+: 200/);
  assert.doesNotMatch(printed, /given up/);
});

test("a delivery that is cancelled before its fulfilment exists cancels it", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  proxy.onCreated = async () => {
    const [order] = await deliveriesOf(orderId);
    await testOrders.cancel(order?.id ?? "");
    await eventually(() => printed.includes(`503`), "the refusal of the event");
    return true;
  };
  printed = "";
  ok(await fulfil(orderId, lineId, 1));
  proxy.onCreated = () => true;
  await eventually(
    async () => (await fulfillmentsOf(orderId)).find(({ canceled_at: at }) => at),
    "the cancellation",
  );
  ok(await fulfil(orderId, lineId, 1));
  assert.deepEqual(await referencesOf(orderId), [`${orderId}-1`, `${orderId}-2`]);
});

test("an interrupted cancellation loses no event", TIMEOUT, async () => {
  const { orderId, deliveryId } = await sell();
  const [{ id }] = await fulfillmentsOf(orderId);
  proxy.blocked = /\/cancel$/;
  const ends = "OLD.cancelling_until_ms IS NOT NULL AND NEW.cancelling_until_ms IS NULL";
  const interrupted = await withRefusedUpdates(ends, () =>
    shop.admin("POST", `/orders/${orderId}/fulfillments/${id}/cancel`, {}),
  );
  proxy.blocked = undefined;
  assert.match(interrupted.body.message, /did not answer as expected .*Cancel again/);
  printed = "";
  await testOrders.simulate(deliveryId, "auto");
  await eventually(() => printed.includes(" 503"), "the refusal of the event");
  assert.equal((await fulfillmentsOf(orderId))[0].shipped_at, null);
  await setTime("cancelling_until_ms", orderId, 0);
  const fulfillment = await eventually(
    async () => (await fulfillmentsOf(orderId)).find(({ delivered_at: at }) => at),
    "the delivery in Medusa",
  );
  assert.ok(fulfillment.shipped_at);
});

test("an interrupted cancellation leads to no second delivery", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  proxy.onCreated = () => false;
  assert.equal((await fulfil(orderId, lineId, 1)).status, 500);
  proxy.onCreated = () => true;
  await setTime("cancelling_until_ms", orderId, Date.now() + 60_000);
  assert.match((await fulfil(orderId, lineId, 1)).body.message, /is being created/);
  await setTime("cancelling_until_ms", orderId, Date.now());
  ok(await fulfil(orderId, lineId, 1));
  assert.deepEqual(await referencesOf(orderId), [`${orderId}-1`]);
});

test("a webhook with a wrong signature is refused", TIMEOUT, async () => {
  const body = { id: "evt_1", event: "order.delivered", mode: "test", sequence: 1, order: null };
  const headers = client.webhooks.signTestEvent(JSON.stringify(body), OTHER_SECRET);
  assert.equal((await shop.call("POST", "/hooks/delivery", body, headers)).status, 401);
  assert.equal((await shop.call("POST", "/hooks/delivery", body)).status, 401);
  const log = () => readFile(join(SHOP, "medusa.log"), "utf8");
  for (const reason of ["mismatch", "missing_headers"]) {
    await eventually(
      async () => (await log()).includes(`webhook refused: ${reason}`),
      "the reason in the log",
    );
  }
});

test("webhooks that wait are few, and skipped once nobody waits for the answer", TIMEOUT, async () => {
  const aborted = new AbortController();
  const ids = Array.from({ length: 110 }, () => `evt_${randomUUID()}`);
  const stored = async () =>
    (await database.query("SELECT 1 FROM waybill_events WHERE event_id = ANY($1)", [ids])).rows.length;
  await whileLocked("waybill_events", async (waiting) => {
    const refusals: (string | null)[] = [];
    const sent = ids.map(async (id) => {
      const answer = await send(id, secret, aborted.signal).catch(() => undefined);
      if (answer?.status === 503) refusals.push(answer.headers.get("retry-after"));
    });
    await eventually(() => refusals.length >= 8, "the refusals");
    // Two are received, and a hundred wait.
    assert.deepEqual(refusals, Array(8).fill("5"));
    assert.equal(await waiting(), 2);
    assert.equal((await send("evt_1", OTHER_SECRET)).status, 401);
    aborted.abort();
    await Promise.all(sent);
    assert.equal((await send("evt_1", OTHER_SECRET)).status, 401);
  });
  assert.equal((await send(ids[0] ?? "", secret)).status, 200);
  assert.ok((await stored()) <= 3, `${await stored()} are stored`);
});

test("a Medusa that is killed before it stores the answer gets the same delivery", TIMEOUT, async () => {
  const { orderId, lineId } = await buy(shop, catalogue, 1);
  proxy.onCreated = () => {
    shop.kill();
    return false;
  };
  await assert.rejects(fulfil(orderId, lineId, 1));
  proxy.onCreated = () => true;
  await shop.stop();
  await shop.start();
  // Until the lease of the killed process ends.
  const retried = async () => {
    const { status, body } = await fulfil(orderId, lineId, 1);
    if (status !== 200) assert.match(body.message, /is being created/);
    return status === 200;
  };
  await eventually(retried, "the retry", 90_000);
  assert.deepEqual(await referencesOf(orderId), [`${orderId}-1`]);
  assert.equal((await fulfillmentsOf(orderId)).length, 1);
});

test("a balance that is too low is shown, and nothing is created", TIMEOUT, async () => {
  await shop.stop();
  await shop.start({ WAYBILL_API_KEY: variable("LIVE_KEY") });
  const { orderId, lineId } = await buy(shop, catalogue, 1, "expensive");
  for (const _ of ["first", "again"]) {
    const refused = await fulfil(orderId, lineId, 1);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /balance is too low by ₹\d+\.\d\d. Top up the wallet. Then fulfil/);
  }
  const live = waybill(variable("LIVE_KEY"));
  for await (const order of live.orders.list({ orderReference: `${orderId}-1` })) assert.fail(order.id);
});

test("every unusable option is named", () => {
  const { problemsOf } = installed("options.js");
  const usable = { apiKey: variable("TEST_KEY"), baseUrl: BASE_URL };
  const full = { ...usable, deliveryFeePaise: 1, weightUnit: "kg", deadlineMs: 20_000 };
  for (const options of [usable, full]) assert.deepEqual(problemsOf(options), []);
  const wrong = { apiKey: "sk", baseUrl: "x", deliveryFeePaise: 49.5, weightUnit: "lb", deadlineMs: 0 };
  const names = problemsOf(wrong).map((problem: string) => problem.split(" ")[0]);
  assert.deepEqual(names, Object.keys(wrong));
  assert.deepEqual(problemsOf({}).length, 2);
  assert.match(problemsOf({ apiKey: variable("LIVE_KEY"), baseUrl: "http://shop.example/v1" })[0], /https/);
  for (const deliveryFeePaise of [0, "49", null, Number.NaN])
    assert.match(problemsOf({ ...usable, deliveryFeePaise }).join(), /^deliveryFeePaise must be/);
});

test("messages", async () => {
  const messages = installed("messages.js");
  const because = (cause: Error & { code: string }): string =>
    messages.creationFailed({ code: cause.code, message: cause.message }, cause).message;
  const locked = {
    code: "live_api_locked",
    message: "locked",
    missing: ["wallet_funded", "business_active"],
  };
  const table: [Error & { code: string }, RegExp][] = [
    [new client.PermissionError(403, locked, undefined, undefined), /wallet funded, business active/],
    [new client.AuthenticationError(401, { code: "key_revoked" }, undefined, undefined), /check apiKey/],
    [new client.RateLimitError(429, {}, undefined, undefined), /in a minute/],
    [new client.ServerError(503, {}, undefined, undefined), /Fulfil the same items again/],
    [
      new client.ConflictError(409, { message: "Other." }, undefined, undefined),
      /refused the order: Other\./,
    ],
  ];
  for (const [cause, expected] of table) assert.match(because(cause), expected);
  assert.match(messages.creationFailed({ code: "x", message: "stored" }, undefined).message, /stored/);
});

function fulfil(orderId: string, lineId: string, quantity: number, changes = {}): Promise<Answer> {
  const body = { items: [{ id: lineId, quantity }], location_id: catalogue.locationId, ...changes };
  return shop.admin("POST", `/orders/${orderId}/fulfillments`, body);
}

/** One of four calls at once succeeds. */
async function contest() {
  const bought = await buy(shop, catalogue, 1);
  const { orderId, lineId } = bought;
  const answers = await Promise.all(Array.from({ length: 4 }, () => fulfil(orderId, lineId, 1)));
  const succeeded = answers.filter(({ status }) => status === 200);
  assert.equal(succeeded.length, 1, JSON.stringify(answers.map(messageOf)));
  return bought;
}

/** Buys one piece and fulfils it. */
async function sell() {
  const bought = await buy(shop, catalogue, 1);
  ok(await fulfil(bought.orderId, bought.lineId, 1));
  const [order] = await deliveriesOf(bought.orderId);
  return { ...bought, deliveryId: order?.id ?? "" };
}

async function fulfillmentsOf(orderId: string): Promise<Answer["body"][]> {
  const fields = "fields=id,*fulfillments,*fulfillments.labels";
  return ok(await shop.admin("GET", `/orders/${orderId}?${fields}`)).order.fulfillments;
}

/** The test deliveries of a Medusa order, by their references. */
async function deliveriesOf(orderId: string): Promise<Order[]> {
  const orders: Order[] = [];
  for (let number = 1; number <= 5; number += 1) {
    for await (const order of testOrders.list({ orderReference: `${orderId}-${number}` })) orders.push(order);
  }
  return orders;
}

async function referencesOf(orderId: string): Promise<string[]> {
  return (await deliveriesOf(orderId)).map(({ orderReference }) => orderReference);
}

/** A file of the installed provider. */
function installed(file: string) {
  return createRequire(import.meta.url)(join(SHOP, "node_modules/@waybill/medusa/dist", file));
}

/** Sends an event of a kind that the provider does not know. */
function send(id: string, signedWith: string, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ id, event: "order.other", mode: "test", sequence: null, order: null });
  const headers = client.webhooks.signTestEvent(body, signedWith);
  return fetch(`${shop.origin}/hooks/delivery`, { method: "POST", headers, body, signal: signal ?? null });
}

/** Medusa cannot write to a table meanwhile. */
async function whileLocked<Result>(
  table: string,
  work: (waiting: () => Promise<number>) => Promise<Result>,
): Promise<Result> {
  const connection = await database.connect();
  await connection.query("BEGIN");
  await connection.query(`LOCK TABLE ${table} IN SHARE MODE`);
  const text = "SELECT 1 FROM pg_locks WHERE relation = $1::regclass AND NOT granted";
  try {
    return await work(async () => (await database.query(text, [table])).rows.length);
  } finally {
    await connection.query("COMMIT");
    connection.release();
  }
}

/** The database refuses some updates of the provider, as if it ended before them. */
async function withRefusedUpdates<Result>(when: string, work: () => Promise<Result>): Promise<Result> {
  await database.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'refused by the test'; END $$`);
  await database.query(`CREATE TRIGGER refused BEFORE UPDATE ON waybill_fulfillments
    FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`);
  try {
    return await work();
  } finally {
    await database.query("DROP TRIGGER refused ON waybill_fulfillments");
  }
}

/** Of the order's first delivery. */
async function setTime(
  column: "attempted_at_ms" | "cancelling_until_ms",
  orderId: string,
  ms: number,
): Promise<void> {
  const text = `UPDATE waybill_fulfillments SET ${column} = $1 WHERE order_id = $2 AND number = 1`;
  await database.query(text, [ms, orderId]);
}

function messageOf({ status, body }: Answer): string {
  return `${status} ${body?.message ?? ""}`;
}

async function createDatabase(): Promise<string> {
  const { postgres } = JSON.parse(await readFile(variable("WAYBILL_TEST_SERVERS"), "utf8"));
  const server = `postgres://waybill_admin:${postgres.password}@127.0.0.1:${postgres.port}`;
  const admin = openDatabase(`${server}/postgres`);
  const name = `medusa_${randomUUID().replaceAll("-", "")}`;
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  return `${server}/${name}?sslmode=disable`;
}
