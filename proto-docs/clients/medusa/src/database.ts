/** Medusa's database, as the client's sync record and receiver use it. */
import { TABLES, type Transaction } from "@waybill/client";

/** What is used of Medusa's connection, which is a Knex. */
export interface Connection extends Statements {
  transaction<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
}

interface Statements {
  raw(text: string, params: unknown[]): PromiseLike<{ rows: Record<string, unknown>[] }>;
}

/** A `Query` of the client. */
export type Query = (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>;

export interface Database {
  query: Query;
  transaction: Transaction;
}

/** Any number, the same in all processes. */
const LOCK = 7_292_451_133;

const FULFILLMENTS = `
CREATE TABLE IF NOT EXISTS waybill_fulfillments (
  mode TEXT NOT NULL,
  order_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  fulfillment_id TEXT NOT NULL,
  contents TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  attempted_at_ms BIGINT NOT NULL,
  cancelled BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (mode, order_id, number)
)`;

/** Later than the table. The former version works without it. */
const ADD_CANCELLING = "ALTER TABLE waybill_fulfillments ADD COLUMN IF NOT EXISTS cancelling_until_ms BIGINT";
const HAS_CANCELLING = `SELECT 1 FROM pg_attribute
  WHERE attrelid = to_regclass('waybill_fulfillments') AND attname = 'cancelling_until_ms'`;

const opened = new WeakMap<Connection, Promise<Database>>();

/** Creates the tables once per process. */
export function openDatabase(connection: Connection): Promise<Database> {
  const known = opened.get(connection);
  if (known) return known;
  const database = create(connection);
  opened.set(connection, database);
  database.catch(() => opened.delete(connection));
  return database;
}

async function create(connection: Connection): Promise<Database> {
  const transaction: Transaction = (work) =>
    connection.transaction((statements) => work(queryOf(statements)));
  await connection.transaction(async (statements) => {
    const query = queryOf(statements);
    // Two processes that create the same table at the same time would fail.
    await query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    for (const table of [...TABLES, FULFILLMENTS]) await query(table, []);
    if ((await query(HAS_CANCELLING, [])).length > 0) return;
    // A long backup holds the table: fail, and try again at the next call, before other calls queue up behind this lock.
    await query("SET LOCAL lock_timeout = '3s'", []);
    await query(ADD_CANCELLING, []);
  });
  return { query: queryOf(connection), transaction };
}

/** What is paid of an order, less what was paid back, as a decimal. */
export async function paidOf({ query }: Database, orderId: string): Promise<unknown> {
  const text = `SELECT COALESCE(SUM(amount), 0)::text AS paid FROM order_transaction
                WHERE order_id = $1 AND deleted_at IS NULL`;
  return (await query(text, [orderId]))[0]?.paid;
}

/** Knex names parameters `?`. The statements name each once, in order. */
function queryOf(statements: Statements): Query {
  return async (text, params) => (await statements.raw(text.replace(/\$\d+/g, "?"), params)).rows;
}
