/** Each event is applied once and in order, whatever arrives, by each adapter. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { type Apply, type Dialect, isKnown, Receiver, type WebhookEvent, webhooks } from "@waybill/client";
import { eventHandler, webhookHandler } from "@waybill/client/express";
import { webhookPlugin } from "@waybill/client/fastify";
import express from "express";
import Fastify from "fastify";
import { create, open, type Shop } from "./databases.js";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEXT_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

function eventOf(orderId: string, sequence: number, changes: object = {}) {
  const order = { id: orderId, orderReference: orderId, status: "picked_up" };
  return {
    id: `evt_${orderId}_${sequence}`,
    event: "order.picked_up",
    sequence,
    mode: "live",
    order,
    data: {},
    ...changes,
  };
}

for (const dialect of ["postgres", "sqlite"] satisfies Dialect[]) {
  describe(dialect, () => {
    let shop: Shop;
    let receiver: Receiver;
    const stale: string[] = [];
    const refused: string[] = [];
    before(async () => {
      shop = await open(dialect, await create(dialect));
      await shop.query("CREATE TABLE work (event_id TEXT NOT NULL)", []);
      const onStale = (event: WebhookEvent) => void stale.push(event.id);
      const secrets = [SECRET, NEXT_SECRET];
      const onRefused = (reason: string) => void refused.push(reason);
      const { transaction } = shop;
      receiver = new Receiver({ transaction, secrets, mode: "live", dialect, onStale, onRefused });
    });
    after(() => shop.close());

    const apply: Apply = async (event, query) => {
      const place = dialect === "sqlite" ? "?" : "$1";
      await query(`INSERT INTO work (event_id) VALUES (${place}) RETURNING event_id`, [event.id]);
      if (isKnown(event) && event.event === "order.failed" && event.data.reason === "explode")
        throw new Error("the work failed");
    };

    async function workOf(orderId: string): Promise<string[]> {
      const result = await shop.query("SELECT event_id FROM work ORDER BY event_id", []);
      const rows = Array.isArray(result) ? result : result.rows;
      return rows.map((row) => String(row.event_id)).filter((id) => id.startsWith(`evt_${orderId}_`));
    }

    function receive(event: object, secret = SECRET) {
      const body = JSON.stringify(event);
      return receiver.receive(Buffer.from(body), webhooks.signTestEvent(body, secret), apply);
    }

    test("duplicates and older sequences have no effect; gaps, other orders and both secrets pass", async () => {
      const receipts = [];
      for (const sequence of [1, 1, 4, 3, 5]) receipts.push(await receive(eventOf("ord_a", sequence)));
      receipts.push(await receive(eventOf("ord_b", 2), NEXT_SECRET), await receive(eventOf("ord_a", 3)));
      assert.deepEqual(receipts, [
        "applied",
        "duplicate",
        "applied",
        "stale",
        "applied",
        "applied",
        "duplicate",
      ]);
      assert.deepEqual(await workOf("ord_a"), ["evt_ord_a_1", "evt_ord_a_4", "evt_ord_a_5"]);
      assert.deepEqual(stale, ["evt_ord_a_3"]);
    });

    test("the same event at once is applied once", async () => {
      const event = eventOf("ord_c", 1);
      const receipts = await Promise.all(Array.from({ length: 8 }, () => receive(event)));
      assert.deepEqual(receipts.filter((receipt) => receipt === "applied").length, 1);
      assert.equal((await workOf("ord_c")).length, 1);
    });

    test("failed work leaves nothing, and the repeated event is applied", async () => {
      const event = eventOf("ord_d", 1, { event: "order.failed", data: { reason: "explode" } });
      await assert.rejects(receive(event), /the work failed/);
      assert.deepEqual(await workOf("ord_d"), []);
      assert.equal(await receive({ ...event, data: {} }), "applied");
    });

    test("the other mode is ignored, events without an order pass, unknown kinds too", async () => {
      assert.equal(await receive(eventOf("ord_e", 1, { mode: "test" })), "other_mode");
      const lowBalance = {
        id: "evt_low_1",
        event: "wallet.low_balance",
        mode: "live",
        order: null,
        sequence: null,
        data: {},
      };
      assert.equal(await receive(lowBalance), "applied");
      assert.equal(await receive(eventOf("ord_f", 1, { event: "parcel.teleported" })), "applied");
      const later = [
        { order: { id: 7 } },
        { order: "ord_7" },
        { order: { id: "" } },
        { order: {} },
        { sequence: "1" },
        { sequence: 1.5 },
        { sequence: 2 ** 60 },
      ];
      for (const [at, changes] of later.entries()) {
        const event = { ...eventOf("ord_g", 1, changes), id: `evt_later_${at}` };
        assert.equal(await receive(event), "applied", JSON.stringify(changes));
      }
    });

    test("old ids are forgotten on request", async () => {
      assert.equal(await receiver.forget(new Date(0)), 0);
      assert.ok((await receiver.forget(new Date(Date.now() + 1_000))) >= 5);
    });

    const servers = {
      Express: expressServer,
      "Express behind express.raw()": rawServer,
      "node:http": plainServer,
      Fastify: fastifyServer,
    };
    for (const [name, start] of Object.entries(servers)) {
      test(`${name}: 200, 401, 413 and 5xx`, async () => {
        const server = await start(receiver, apply);
        const orderId = `ord_${name.replaceAll(/\W/g, "")}`;
        const post = async (event: object, changes: object = {}) => {
          const body = JSON.stringify(event);
          const headers = {
            ...webhooks.signTestEvent(JSON.stringify(eventOf("ord_x", 1)), SECRET),
            ...webhooks.signTestEvent(body, SECRET),
            ...changes,
          };
          return (await fetch(server.url, { method: "POST", headers, body })).status;
        };
        const forged = { "webhook-signature": "v1,x", "Service-Signature": "sha256=00" };
        const exploding = eventOf(orderId, 2, { event: "order.failed", data: { reason: "explode" } });
        const large = eventOf(orderId, 3, { data: { reason: "x".repeat(1024 * 1024) } });
        const statuses = [
          await post(eventOf(orderId, 1)),
          await post(eventOf(orderId, 1), forged),
          await post(large),
        ];
        const failed = await post(exploding);
        refused.length = 0;
        const old = webhooks.signTestEvent(JSON.stringify(eventOf(orderId, 1)), SECRET, { nowSeconds: 1 });
        const others = [
          await post(eventOf(orderId, 1), forged),
          await post(eventOf(orderId, 1), old),
          await post(eventOf(orderId, 4, { mode: "test" })),
        ];
        await server.close();
        assert.deepEqual(others, [401, 401, 200]);
        assert.deepEqual(refused, ["mismatch", "too_old", "other_mode"]);
        assert.deepEqual(statuses, [200, 401, 413]);
        assert.ok(failed >= 500, String(failed));
        assert.deepEqual(await workOf(orderId), [`evt_${orderId}_1`]);
      });
    }
  });
}

test("a handler without a database takes verified events alone", async (context) => {
  const handled: string[] = [];
  const refused: string[] = [];
  const handle = async ({ id, event }: WebhookEvent) => {
    if (event === "order.failed") throw new Error("the work failed");
    handled.push(id);
  };
  const report = context.mock.method(console, "error", () => {});
  const servers = {
    "node:http": await listen(eventHandler(SECRET, handle)),
    Express: await listen(expressApp().post("/webhook", eventHandler([NEXT_SECRET, SECRET], handle))),
    "other options": await listen(
      eventHandler(SECRET, handle, { nowSeconds: 1, onRefused: (reason) => refused.push(reason) }),
    ),
  };
  context.after(() => Promise.all(Object.values(servers).map((server) => server.close())));
  const post = async (server: Running, event: object, secret = SECRET) => {
    const body = JSON.stringify(event);
    const headers = webhooks.signTestEvent(body, secret);
    return (await fetch(server.url, { method: "POST", headers, body })).status;
  };
  const exploding = eventOf("ord_a", 2, { event: "order.failed" });
  const large = eventOf("ord_a", 3, { data: { reason: "x".repeat(1024 * 1024) } });
  const plain = servers["node:http"];
  assert.equal(await post(plain, eventOf("ord_a", 1)), 200);
  assert.equal(await post(plain, eventOf("ord_a", 4), NEXT_SECRET), 401);
  assert.equal(await post(plain, large), 413);
  assert.equal(await post(plain, exploding), 503);
  assert.equal((await fetch(plain.url)).status, 401);
  const reports = report.mock.calls.map((call) => String(call.arguments[0]));
  const reasons = ["mismatch", "missing_headers"].map((reason) => `webhook refused: ${reason}`);
  assert.deepEqual(reports, [reasons[0], "Error: the work failed", reasons[1]]);
  assert.equal(await post(servers.Express, eventOf("ord_a", 5)), 200);
  assert.equal(await post(servers.Express, exploding), 500);
  assert.equal(await post(servers["other options"], eventOf("ord_a", 6)), 401);
  assert.deepEqual(refused, ["too_new"]);
  assert.deepEqual(handled, ["evt_ord_a_1", "evt_ord_a_5"]);
  for (const missing of [undefined, "", [], "whsec_short"]) {
    assert.throws(() => eventHandler(missing, handle), { name: "TypeError", message: /signing secret/ });
  }
});

interface Running {
  url: string;
  close(): Promise<void>;
}

async function listen(handler: Parameters<typeof createServer>[1]): Promise<Running> {
  const server = createServer(handler ?? (() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, close };
}

/** Express prints errors outside of its test mode. */
function expressApp() {
  return express().set("env", "test");
}

function expressServer(receiver: Receiver, apply: Apply): Promise<Running> {
  return listen(expressApp().post("/webhook", webhookHandler(receiver, apply)).use(express.json()));
}

function rawServer(receiver: Receiver, apply: Apply): Promise<Running> {
  const raw = express.raw({ type: () => true, limit: "1mb" });
  return listen(expressApp().post("/webhook", raw, webhookHandler(receiver, apply)));
}

function plainServer(receiver: Receiver, apply: Apply): Promise<Running> {
  return listen(webhookHandler(receiver, apply));
}

async function fastifyServer(receiver: Receiver, apply: Apply): Promise<Running> {
  const app = Fastify();
  app.register(webhookPlugin, { path: "/webhook", receiver, apply });
  const origin = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url: `${origin}/webhook`, close: () => app.close() };
}
