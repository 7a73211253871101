/** The feed of events of a real stack: listing, following, and catching up into the receiver's tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CursorStore,
  InvalidRequestError,
  Receiver,
  type WebhookEvent,
  webhooks,
} from "@waybill/client";
import { create, open } from "./databases.js";
import { client, eventually, newOrder, newReference, TEST_KEY } from "./support.js";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const MOVES = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"] as const;
const KINDS = ["order.created", ...MOVES];
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
