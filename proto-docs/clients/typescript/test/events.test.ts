/** The feed of events of a real stack: listing, following, and catching up into the receiver's tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CursorStore,
  InvalidRequestError,
  NoAnswerError,
  Receiver,
  type WaybillError,
  type WebhookEvent,
  webhooks,
} from "@waybill/client";
import { create, open } from "./databases.js";
import {
  client,
  eventually,
  type Fault,
  FaultyProxy,
  newOrder,
  newReference,
  newTestKey,
  ONE_ATTEMPT,
} from "./support.js";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const MOVES = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"] as const;
const KINDS = ["order.created", ...MOVES];
const TEST_KEY = await newTestKey();
const waybill = client(TEST_KEY);

/** Creates a test order, moves it to its end, and returns its id. */
async function deliveredOrder(reference = newReference()): Promise<string> {
  const { id } = await waybill.orders.create(newOrder(reference), { idempotencyKey: reference });
  for (const move of MOVES) await waybill.orders.simulate(id, move);
  return id;
}

async function eventsOf(id: string, since: string): Promise<WebhookEvent[]> {
  const found: WebhookEvent[] = [];
  for await (const event of waybill.events.list({ since, limit: 2 })) {
    if (event.order?.id === id) found.push(event);
  }
  return found;
}

test("the list has each order's events in sequence; one event is read by its id", async () => {
  const since = new Date(Date.now() - 1_000).toISOString();
  const id = await deliveredOrder();
  const events = await eventually(async () => {
    const found = await eventsOf(id, since);
    return found.length === KINDS.length ? found : undefined;
  }, "the order's last event in the feed");
  assert.deepEqual(
    events.map(({ event, sequence }) => [event, sequence]),
    KINDS.map((kind, at) => [kind, at + 1]),
  );
  assert.deepEqual(await waybill.events.get(events[2]?.id ?? ""), events[2]);
  const last = [];
  const after = { startingAfter: events[3]?.id, types: ["order.delivered"] };
  for await (const event of waybill.events.list(after)) if (event.order?.id === id) last.push(event.id);
  assert.deepEqual(last, [events[4]?.id]);
});

test("an unknown kind is refused", async () => {
  await assert.rejects(waybill.events.page({ types: ["parcel.teleported"] }), InvalidRequestError);
});

test("a reader that fails and starts again misses nothing, and repeats only the event that failed", async () => {
  let cursor: string | null = null;
  const cursors: CursorStore = {
    load: async () => cursor,
    save: async (next) => {
      cursor = next;
    },
  };
  // Other tests place orders at the same time.
  const reference = newReference();
  const seen: string[] = [];
  const stop = new AbortController();
  let polls = 0;
  const onPage = () => {
    polls += 1;
  };
  const read = async (failAt: number) => {
    for await (const event of waybill.events.follow(cursors, { start: "now", signal: stop.signal, onPage })) {
      if (event.order?.orderReference !== reference) continue;
      seen.push(event.id);
      if (seen.length === failAt) throw new Error("the work failed");
      if (event.event === "order.delivered") return;
    }
  };
  const failing = assert.rejects(read(3), /the work failed/);
  await eventually(() => polls > 0, "the first poll");
  await deliveredOrder(reference);
  await failing;
  await read(0);
  stop.abort();
  assert.equal(seen.length, KINDS.length + 1);
  assert.equal(seen[2], seen[3]);
  assert.equal(new Set(seen).size, KINDS.length);
});

const NOWHERE: CursorStore = { load: async () => null, save: async () => {} };

/** Follows through a proxy that gives these answers first, without pauses. Returns the retries' codes and the end. */
async function followThrough(proxy: FaultyProxy, faults: Fault[], said: string) {
  Object.assign(proxy, { faults: [...faults], said });
  const environment = { ...ONE_ATTEMPT, sleep: async () => {} };
  const hasty = client(TEST_KEY, { baseUrl: proxy.baseUrl, environment });
  const retried: string[] = [];
  const stop = new AbortController();
  const options = {
    start: "now",
    signal: stop.signal,
    onRetry: (error: WaybillError) => retried.push(error.code),
    onPage: () => stop.abort(),
  };
  const error = await hasty.events
    .follow(NOWHERE, options)
    .next()
    .catch((thrown) => thrown);
  return { retried, error, answered: stop.signal.aborted };
}

test("a reader ends after ten answers in a row that cannot be read, and waits out any outage", async (context) => {
  const proxy = await FaultyProxy.start();
  context.after(() => proxy.close());
  const portal = "<html>Welcome to the hotel</html>";
  const stuck = await followThrough(proxy, new Array(11).fill(200), portal);
  assert.ok(stuck.error instanceof NoAnswerError && !stuck.answered, String(stuck.error));
  assert.equal(stuck.error.code, "unusable_answer");
  assert.deepEqual(stuck.retried, new Array(9).fill("unusable_answer"));
  // An outage in between starts the count again, and never ends the reader.
  const nine = new Array(9).fill(200);
  const outage = await followThrough(
    proxy,
    [...nine, 503, ...nine, ...new Array(20).fill("cut-before")],
    portal,
  );
  assert.ok(outage.answered, String(outage.error));
  assert.equal(outage.retried.length, 39);
});

test("an element of the feed without an id is no answer of the service; any other shape passes", async (context) => {
  const proxy = await FaultyProxy.start();
  context.after(() => proxy.close());
  const page = (event: object) => JSON.stringify({ data: [event], hasMore: false, next: "c" });
  const odd = { id: "evt_1", event: "order.created", sequence: "one", order: { status: 5 }, data: [] };
  Object.assign(proxy, { faults: [200], said: page(odd) });
  const waybill = client(TEST_KEY, { baseUrl: proxy.baseUrl, environment: ONE_ATTEMPT });
  assert.deepEqual((await waybill.events.page()).data, [odd]);
  Object.assign(proxy, { faults: [200], said: page({ event: "order.created" }) });
  await assert.rejects(waybill.events.page(), { code: "unusable_answer" });
});

test("webhooks and the feed share one path: each event is applied once", async () => {
  const shop = await open("postgres", await create("postgres"));
  const receiver = new Receiver({ transaction: shop.transaction, secrets: SECRET, mode: "test" });
  const applied: WebhookEvent[] = [];
  const receipts: string[] = [];
  const apply = (event: WebhookEvent) => void applied.push(event);
  const since = new Date(Date.now() - 1_000).toISOString();
  const id = await deliveredOrder();
  const [first] = await eventually(async () => {
    const found = await eventsOf(id, since);
    return found.length > 0 ? found : undefined;
  }, "the first event");
  const body = JSON.stringify(first);
  assert.equal(await receiver.receive(body, webhooks.signTestEvent(body, SECRET), apply), "applied");
  const stop = new AbortController();
  const onReceipt = (event: WebhookEvent, receipt: string) => {
    if (event.order?.id !== id) return;
    receipts.push(receipt);
    if (event.event === "order.delivered") stop.abort();
  };
  await receiver.follow(waybill, "main", apply, { start: since, signal: stop.signal, onReceipt });
  await shop.close();
  assert.deepEqual(receipts, ["duplicate", "applied", "applied", "applied", "applied"]);
  const own = applied.filter((event) => event.order?.id === id);
  assert.deepEqual(
    own.map(({ event }) => event),
    KINDS,
  );
});
