/** Your database, as the sync record and the receiver use it. */

type Row = Record<string, unknown>;

/**
 * Runs one statement and returns its rows: `(text, params) => pool.query(text, params)` for pg, or an array of rows.
 * Every statement of this package returns rows.
 */
export type Query = (text: string, params: unknown[]) => Promise<Row[] | { rows: Row[] }> | Row[];

/** Runs the work in one transaction: it commits what `work` did, or nothing if `work` throws. */
export type Transaction = <Result>(work: (query: Query) => Promise<Result>) => Promise<Result>;

export type Dialect = "postgres" | "sqlite";

/** Statements name their parameters `$1`, `$2` … in order, each once, so that SQLite can have `?` instead. */
export async function rowsOf(
  query: Query,
  dialect: Dialect,
  text: string,
  params: unknown[],
): Promise<Row[]> {
  const result = await query(dialect === "sqlite" ? text.replace(/\$\d+/g, "?") : text, params);
  return Array.isArray(result) ? result : result.rows;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The tables, for a migration of yours: the same in every language, on PostgreSQL and on SQLite. */
export const TABLES: readonly string[] = `
CREATE TABLE IF NOT EXISTS waybill_sync (
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  local_order_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('creating', 'created', 'failed')),
  body TEXT,
  body_sha256 TEXT NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  attempted_at_ms BIGINT NOT NULL,
  lease_until_ms BIGINT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  retry_at_ms BIGINT,
  order_id TEXT,
  tracking_code TEXT,
  tracking_url TEXT,
  delivery_status TEXT,
  CHECK ((status = 'created') = (order_id IS NOT NULL)),
  CHECK (status <> 'created' OR body IS NULL),
  PRIMARY KEY (mode, local_order_id)
);
CREATE TABLE IF NOT EXISTS waybill_events (
  event_id TEXT PRIMARY KEY,
  received_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS waybill_events_received ON waybill_events (received_at_ms);
CREATE TABLE IF NOT EXISTS waybill_sequences (
  order_id TEXT PRIMARY KEY,
  last_sequence BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS waybill_cursors (
  reader TEXT PRIMARY KEY,
  feed_cursor TEXT NOT NULL
)
`
  .trim()
  .split(";\n");
