/**
 * A small shop on Express and PostgreSQL: one delivery for each confirmed order, and webhooks that update it.
 *
 *   node shop.js serve 127.0.0.1:3000   creates the tables, and receives webhooks
 *   node shop.js follow                 applies the events that no webhook brought
 *   node shop.js order 1001 prepaid     confirms a sample order, then creates its delivery
 *   node shop.js sync 1001              retries that for one order
 *   node shop.js show [1001]            prints one order, or the newest 20
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import {
  type Apply,
  isKnown,
  type NewOrder,
  type Query,
  Receiver,
  SqlSyncStore,
  Sync,
  TABLES,
  type Transaction,
  Waybill,
  type WaybillError,
} from "@waybill/client";
import { webhookHandler } from "@waybill/client/express";
import express, { type ErrorRequestHandler } from "express";
import pg from "pg";

function setting(name: string, fallback?: string): string {
  const value = process.env[`WAYBILL_${name}`] || fallback;
  if (value === undefined) throw new Error(`WAYBILL_${name} is not set`);
  return value;
}

const pool = new pg.Pool({
  connectionString: setting("DATABASE__URL"),
  max: 8,
  // A database that hangs fails the work, which is then repeated.
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  query_timeout: 10_000,
  idle_in_transaction_session_timeout: 10_000,
});
// An idle connection that breaks is replaced. Without a listener it would end the process.
pool.on("error", (error) => printError(`database: ${error.message}`));

const query: Query = (text, params) => pool.query(text, params);

const transaction: Transaction = async (work) => {
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    const result = await work((text, params) => connection.query(text, params));
    await connection.query("COMMIT");
    connection.release();
    return result;
  } catch (error) {
    // Closes the connection, which rolls back.
    connection.release(true);
    throw error;
  }
};

const waybill = new Waybill({
  apiKey: setting("API_KEY"),
  baseUrl: setting("BASE_URL"),
  deadlineMs: Number(setting("REQUEST_TIMEOUT_SECONDS", "60")) * 1_000,
});
const store = new SqlSyncStore({ query, mode: waybill.mode });
const sync = new Sync({
  client: waybill,
  store,
  website: setting("NAME", "shop"),
  leaseMs: Number(setting("LEASE_SECONDS", "90")) * 1_000,
});

interface LocalOrder {
  id: string;
  payment_type: "cod" | "prepaid";
  goods_paise: number;
  /** The latest status that an event reported, and the mode of its delivery. */
  delivery_status: string | null;
  delivery_mode: string | null;
}

const ORDERS = `CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY,
  payment_type TEXT NOT NULL,
  goods_paise INTEGER NOT NULL,
  delivery_status TEXT,
  delivery_mode TEXT,
  confirmed_at TIMESTAMPTZ NOT NULL DEFAULT now()
)`;

const DELIVERY_FEE_PAISE = 4_900;

function toWaybill({ id, payment_type: paymentType, goods_paise: orderValuePaise }: LocalOrder): NewOrder {
  const amounts = { orderValuePaise, deliveryFeePaise: DELIVERY_FEE_PAISE };
  const total = orderValuePaise + DELIVERY_FEE_PAISE;
  return {
    orderReference: id,
    // A sample. Yours come from the checkout.
    customer: { name: "Asha Rao", phone: "+919800000001" },
    delivery: { addressLine1: "12th Main Road", city: "Bengaluru", state: "Karnataka", pincode: "560038" },
    payment:
      paymentType === "cod"
        ? { paymentType, codAmountPaise: total, ...amounts }
        : { paymentType, prepaidAmountPaise: total, ...amounts },
  };
}

/** Only stores the order, so that an outage of the delivery service never fails a checkout. */
async function confirmOrder(id: string, paymentType: string): Promise<void> {
  const text = `INSERT INTO orders (id, payment_type, goods_paise) VALUES ($1, $2, 124900)
                ON CONFLICT (id) DO NOTHING RETURNING id`;
  const { rowCount } = await pool.query(text, [id, paymentType]);
  if (rowCount === 0) throw new Error(`order ${id} is already confirmed`);
}

async function localOrder(id: string): Promise<LocalOrder> {
  const { rows } = await pool.query<LocalOrder>("SELECT * FROM orders WHERE id = $1", [id]);
  if (!rows[0]) throw new Error(`there is no order ${id}`);
  return rows[0];
}

/** Call it after the checkout, and again when somebody retries the order. Never call it for many orders in a loop. */
async function createDelivery(id: string): Promise<string> {
  const order = await localOrder(id);
  const outcome = await sync.ensure(id, () => toWaybill(order));
  switch (outcome.status) {
    case "created":
    case "recovered":
      return `${id}: delivery created, ${outcome.delivery.trackingUrl}`;
    case "already_created":
      return `${id}: delivery exists already, ${outcome.delivery.trackingUrl}`;
    case "in_progress":
      return `${id}: another attempt is in progress`;
    case "failed": {
      const { code, message } = outcome.error;
      throw new Error(`${id}: ${message} (${code}) The order is stored; retry with \`sync ${id}\`.`);
    }
  }
}

/** Runs in the transaction that stores the event's id, so an event is applied completely and once. */
const apply: Apply = async (event, query) => {
  // A later version of the service may send other kinds.
  if (!isKnown(event) || !event.order) return;
  const { orderReference, status } = event.order;
  const text = "UPDATE orders SET delivery_status = $1, delivery_mode = $2 WHERE id = $3 RETURNING id";
  await query(text, [status, event.mode, orderReference]);
};

const receiver = new Receiver({
  transaction,
  secrets: setting("WEBHOOK_SECRET"),
  mode: waybill.mode,
  headerPrefix: setting("HEADER_PREFIX", "Service"),
  onRefused: (reason) => printError(`webhook not applied: ${reason}`),
});

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The service sends no event again after 30 days. */
async function forget(): Promise<void> {
  await receiver.forget(new Date(Date.now() - 31 * DAY_MS));
}

/** Express would answer with the error's text and stack. */
const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  printError(`webhook: ${error instanceof Error ? error.message : "failed"}`);
  response.status(503).json({ message: "The webhook could not be applied. Send it again." });
};

async function serve(address: string): Promise<void> {
  const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  for (const table of [ORDERS, ...TABLES]) await pool.query(table);
  await forget();
  const daily = setInterval(() => forget().catch((error) => printError(`forget: ${error.message}`)), DAY_MS);
  const app = express().post("/api/waybill/webhook", webhookHandler(receiver, apply)).use(onError);
  const [host = "", port] = address.split(":");
  const server = app.listen(Number(port), host);
  await once(server, "listening");
  const bound = server.address() as AddressInfo;
  print(`receiving webhooks at http://${bound.address}:${bound.port}/api/waybill/webhook`);
  await stopped;
  clearInterval(daily);
  server.close();
  server.closeIdleConnections();
  await once(server, "close");
}

/** Run it as a process of its own. It may be killed at any time: the next one continues behind the last event. */
function follow(): Promise<void> {
  const onRetry = ({ message }: WaybillError) => printError(`feed: ${message} Trying again.`);
  return receiver.follow(waybill, "shop", apply, { onRetry });
}

async function show(ids: string[]): Promise<void> {
  for (const id of ids) {
    const [order, record] = await Promise.all([localOrder(id), store.get(id)]);
    // A shop that goes live may have the order from a test.
    const reported = order.delivery_mode === waybill.mode ? order.delivery_status : null;
    const status = reported ?? record?.delivery?.status;
    const fields = [
      record?.status ?? "not_started",
      status,
      record?.delivery?.trackingUrl,
      record?.error?.message,
    ];
    print([id, ...fields.map((field) => field ?? "-")].join("  "));
  }
}

async function newest(): Promise<string[]> {
  const { rows } = await pool.query<LocalOrder>(
    "SELECT * FROM orders ORDER BY confirmed_at DESC, id LIMIT 20",
  );
  return rows.map(({ id }) => id);
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function run([command, id, paymentType = "cod"]: string[]): Promise<void> {
  if (command === "serve" && id) return serve(id);
  if (command === "follow") return follow();
  if (command === "show") return show(id ? [id] : await newest());
  if (!id || (command !== "order" && command !== "sync")) throw new Error("usage: see the top of this file");
  if (command === "order") await confirmOrder(id, paymentType);
  print(await createDelivery(id));
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  printError(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await pool.end();
}
