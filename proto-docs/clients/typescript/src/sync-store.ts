/** The sync record of each local order, in one table. No row means `not_started`. */
import { createHash } from "node:crypto";
import { type Dialect, type Query, rowsOf, textOf } from "./database.js";
import type { Mode } from "./types.js";

/** What a body is compared by after it was deleted. */
export function sha256Of(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

/** What the local order keeps of its delivery. */
export interface Delivery {
  id: string;
  trackingCode: string;
  trackingUrl: string;
  status: string;
}

export interface SyncError {
  code: string;
  message: string;
}

export interface SyncRecord {
  status: "creating" | "created" | "failed";
  /** What an earlier attempt may have sent; the next one has to repeat it. Deleted once the delivery is known. */
  body: string | undefined;
  /** Of the body that was sent last; empty if the delivery has another body, which is unknown. */
  bodySha256: string;
  leaseUntilMs: number;
  delivery: Delivery | undefined;
  error: SyncError | undefined;
  /** When `retryDue` repeats a failed attempt; undefined if a person decides. */
  retryAtMs: number | undefined;
}

/** An order without a delivery. */
export interface OpenRecord extends SyncRecord {
  localOrderId: string;
  attempt: number;
  attemptedAtMs: number;
}

export interface Claim {
  attempt: number;
  /** The body to send. */
  body: string;
}

export interface SyncStore {
  /** A compare-and-set: of several callers one gets the claim, until its lease ends. */
  claim(localOrderId: string, body: string, nowMs: number, leaseUntilMs: number): Promise<Claim | undefined>;
  /** Any attempt's success counts, even after its lease has ended. `bodySha256`: empty if its body is unknown. */
  created(localOrderId: string, delivery: Delivery, bodySha256: string): Promise<void>;
  /** Only of the latest attempt; false if another one has taken over. `keepBody`: the order may exist. */
  failed(
    localOrderId: string,
    attempt: number,
    error: SyncError,
    keepBody: boolean,
    retryAtMs?: number,
  ): Promise<boolean>;
  get(localOrderId: string): Promise<SyncRecord | undefined>;
  /**
   * Orders without a delivery, the longest untouched first. With `dueAtMs` only those to be repeated by then: failed ones
   * by their `retryAtMs`, and those whose process died by the end of its lease.
   */
  open(limit: number, dueAtMs?: number): Promise<OpenRecord[]>;
}

export interface SqlSyncStoreOptions {
  query: Query;
  /** Of the API key, because a local order may be sent with both: `client.mode`. */
  mode: Mode;
  dialect?: Dialect;
}

const COLUMNS = `local_order_id, status, body, body_sha256, attempt, attempted_at_ms, lease_until_ms, error_code,
  error_message, retry_at_ms, order_id, tracking_code, tracking_url, delivery_status`;

export class SqlSyncStore implements SyncStore {
  readonly #mode: Mode;
  readonly #rows: (text: string, params: unknown[]) => ReturnType<typeof rowsOf>;

  constructor({ query, mode, dialect = "postgres" }: SqlSyncStoreOptions) {
    this.#mode = mode;
    this.#rows = (text, params) => rowsOf(query, dialect, text, params);
  }

  async claim(localOrderId: string, body: string, nowMs: number, leaseUntilMs: number) {
    const [row] = await this.#rows(
      `INSERT INTO waybill_sync
         (mode, local_order_id, status, body, body_sha256, attempt, attempted_at_ms, lease_until_ms)
       VALUES ($1, $2, 'creating', $3, $4, 1, $5, $6)
       ON CONFLICT (mode, local_order_id) DO UPDATE SET
         status = 'creating', body = COALESCE(waybill_sync.body, excluded.body),
         body_sha256 = CASE WHEN waybill_sync.body IS NULL THEN excluded.body_sha256 ELSE waybill_sync.body_sha256 END,
         attempt = waybill_sync.attempt + 1, attempted_at_ms = excluded.attempted_at_ms,
         lease_until_ms = excluded.lease_until_ms, error_code = NULL, error_message = NULL, retry_at_ms = NULL
       WHERE waybill_sync.status = 'failed'
          OR (waybill_sync.status = 'creating' AND waybill_sync.lease_until_ms <= excluded.attempted_at_ms)
       RETURNING attempt, body`,
      [this.#mode, localOrderId, body, sha256Of(body), nowMs, leaseUntilMs],
    );
    return row && { attempt: Number(row.attempt), body: String(row.body) };
  }

  async created(localOrderId: string, delivery: Delivery, bodySha256: string): Promise<void> {
    const { id, trackingCode, trackingUrl, status } = delivery;
    await this.#rows(
      `UPDATE waybill_sync SET status = 'created', body = NULL, error_code = NULL, error_message = NULL, retry_at_ms = NULL,
         order_id = $1, tracking_code = $2, tracking_url = $3, delivery_status = $4,
         body_sha256 = $5
       WHERE mode = $6 AND local_order_id = $7 AND status <> 'created' RETURNING attempt`,
      [id, trackingCode, trackingUrl, status, bodySha256, this.#mode, localOrderId],
    );
  }

  async failed(
    localOrderId: string,
    attempt: number,
    error: SyncError,
    keepBody: boolean,
    retryAtMs?: number,
  ): Promise<boolean> {
    const rows = await this.#rows(
      `UPDATE waybill_sync SET status = 'failed', error_code = $1, error_message = $2,
         body = CASE WHEN $3 = 1 THEN body END, retry_at_ms = $4
       WHERE mode = $5 AND local_order_id = $6 AND attempt = $7 AND status = 'creating' RETURNING attempt`,
      [error.code, error.message, keepBody ? 1 : 0, retryAtMs ?? null, this.#mode, localOrderId, attempt],
    );
    return rows.length === 1;
  }

  async get(localOrderId: string): Promise<SyncRecord | undefined> {
    const [row] = await this.#rows(
      `SELECT ${COLUMNS} FROM waybill_sync WHERE mode = $1 AND local_order_id = $2`,
      [this.#mode, localOrderId],
    );
    return row && recordOf(row);
  }

  async open(limit: number, dueAtMs?: number): Promise<OpenRecord[]> {
    const due = dueAtMs === undefined ? [] : [dueAtMs];
    const isDue = "CASE status WHEN 'failed' THEN retry_at_ms ELSE lease_until_ms END <= $2";
    const rows = await this.#rows(
      `SELECT ${COLUMNS} FROM waybill_sync
       WHERE mode = $1 AND status <> 'created'${due.length > 0 ? ` AND ${isDue}` : ""}
       ORDER BY attempted_at_ms LIMIT $${due.length + 2}`,
      [this.#mode, ...due, limit],
    );
    return rows.map((row) => ({
      ...recordOf(row),
      localOrderId: String(row.local_order_id),
      attempt: Number(row.attempt),
      attemptedAtMs: Number(row.attempted_at_ms),
    }));
  }
}

function recordOf(row: Record<string, unknown>): SyncRecord {
  const delivery = {
    id: String(row.order_id),
    trackingCode: String(row.tracking_code),
    trackingUrl: String(row.tracking_url),
    status: String(row.delivery_status),
  };
  const code = textOf(row.error_code);
  return {
    status: row.status as SyncRecord["status"],
    body: textOf(row.body),
    bodySha256: String(row.body_sha256),
    leaseUntilMs: Number(row.lease_until_ms),
    delivery: row.status === "created" ? delivery : undefined,
    error: code === undefined ? undefined : { code, message: String(row.error_message) },
    retryAtMs: row.retry_at_ms === null ? undefined : Number(row.retry_at_ms),
  };
}
