/**
 * Which delivery belongs to which fulfilment. Medusa deletes a fulfilment whose provider fails, and a retry gets another
 * id, so the id cannot name the delivery. An order's deliveries are counted instead: a retry gets the number of the
 * failed attempt, because no fulfilment of the order holds it.
 */
import type { Mode } from "@waybill/client";
import type { Database, Query } from "./database.js";

/** An attempt that did not end has less time to call the service, and Medusa to link the fulfilment to its order. */
const ATTEMPT_MS = 60_000;

export interface Attempt {
  orderId: string;
  fulfillmentId: string;
  contents: string;
}

export interface Held {
  orderId: string;
  fulfillmentId: string;
  cancelled: boolean;
  /** A cancellation is under way, and may be refused. */
  cancelling: boolean;
  /** A call creates the delivery, or Medusa is about to link its fulfilment. */
  creating: boolean;
}

export class AttemptRefusedError extends Error {
  constructor(readonly reason: "busy" | "other_contents" | "ended") {
    super(reason);
  }
}

interface Row {
  number: number;
  fulfillment_id: string;
  contents: string;
  attempt: number;
  attempted_at_ms: string;
  cancelled: boolean;
  cancelling_until_ms: string | null;
  linked: boolean;
  in_call_until_ms: string | null;
  exists: boolean | null;
  may_exist: boolean | null;
}

export class Deliveries {
  readonly #query: Query;
  readonly #mode: Mode;
  readonly #nowMs: () => number;

  constructor(database: Database, mode: Mode, nowMs: () => number) {
    this.#query = database.query;
    this.#mode = mode;
    this.#nowMs = nowMs;
  }

  /** Returns the reference of the delivery that this attempt is about. */
  async begin(attempt: Attempt): Promise<string> {
    const rows = await this.#rowsOf(attempt.orderId);
    const free = rows.find((row) => !row.linked && !row.cancelled);
    const number = free ? await this.#retry(free, attempt) : await this.#first(rows.length + 1, attempt);
    if (number === undefined) throw new AttemptRefusedError("busy");
    return `${attempt.orderId}-${number}`;
  }

  async find(reference: string): Promise<Held | undefined> {
    const [orderId, number] = keyOf(reference) ?? [];
    if (orderId === undefined) return undefined;
    const row = (await this.#rowsOf(orderId)).find((each) => each.number === number);
    if (!row) return undefined;
    const nowMs = this.#nowMs();
    return {
      orderId,
      fulfillmentId: row.fulfillment_id,
      cancelled: row.cancelled,
      cancelling: nowMs < Number(row.cancelling_until_ms),
      creating: nowMs < creatingUntilMs(row),
    };
  }

  /**
   * Until its end, or this time if the process dies, nobody else decides about the delivery. False if another attempt
   * has taken the delivery over: then it is not this fulfilment's to cancel.
   */
  async startCancelling(reference: string, fulfillmentId: string, maxMs: number): Promise<boolean> {
    const [orderId] = keyOf(reference) ?? [];
    if (orderId !== undefined) await this.#giveBack(orderId);
    return this.#changeOwn(reference, fulfillmentId, "cancelling_until_ms", this.#nowMs() + maxMs);
  }

  /** The service refused to cancel it. */
  async stopCancelling(reference: string, fulfillmentId: string): Promise<void> {
    await this.#changeOwn(reference, fulfillmentId, "cancelling_until_ms", null);
  }

  /** The delivery has ended at the service: the order's next fulfilment gets a new one. False as above. */
  async setCancelled(reference: string, fulfillmentId: string): Promise<boolean> {
    return this.#changeOwn(reference, fulfillmentId, "cancelled", true);
  }

  /** From now on Medusa links the fulfilment. False if another attempt has taken the delivery over. */
  async startLinking(reference: string, fulfillmentId: string): Promise<boolean> {
    return this.#changeOwn(reference, fulfillmentId, "attempted_at_ms", this.#nowMs());
  }

  /** This attempt failed, so the next one need not wait. */
  async end(reference: string, fulfillmentId: string): Promise<void> {
    await this.#changeOwn(reference, fulfillmentId, "attempted_at_ms", 0);
  }

  /** The next call sends a corrected body, unless a call may still be under way. */
  async forgetBody(reference: string): Promise<void> {
    const text = `UPDATE waybill_sync SET body = NULL WHERE mode = $1 AND local_order_id = $2
                  AND (status = 'failed' OR lease_until_ms <= $3) RETURNING mode`;
    await this.#query(text, [this.#mode, reference, this.#nowMs()]);
  }

  async #changeOwn(
    reference: string,
    fulfillmentId: string,
    column: string,
    value: unknown,
  ): Promise<boolean> {
    const key = keyOf(reference);
    if (!key) return false;
    const text = `UPDATE waybill_fulfillments SET ${column} = $1
                  WHERE mode = $2 AND order_id = $3 AND number = $4 AND fulfillment_id = $5 RETURNING number`;
    const rows = await this.#query(text, [value, this.#mode, ...key, fulfillmentId]);
    return rows.length === 1;
  }

  /**
   * If Medusa took long to link a fulfilment, another attempt may have taken its delivery over in between. The linked
   * fulfilment keeps it.
   */
  async #giveBack(orderId: string): Promise<void> {
    const text = `
      UPDATE waybill_fulfillments f SET fulfillment_id = m.id
      FROM waybill_sync s, order_fulfillment l, fulfillment m
      WHERE f.mode = $1 AND f.order_id = $2 AND s.mode = f.mode AND s.local_order_id = f.order_id || '-' || f.number
        AND l.order_id = f.order_id AND l.deleted_at IS NULL AND m.id = l.fulfillment_id AND m.canceled_at IS NULL
        AND m.data->>'deliveryId' = s.order_id
        AND NOT EXISTS (SELECT 1 FROM order_fulfillment o
                        WHERE o.fulfillment_id = f.fulfillment_id AND o.deleted_at IS NULL)
      RETURNING f.number`;
    await this.#query(text, [this.#mode, orderId]);
  }

  async #rowsOf(orderId: string): Promise<Row[]> {
    await this.#giveBack(orderId);
    const text = `
      SELECT f.number, f.fulfillment_id, f.contents, f.attempt, f.attempted_at_ms, f.cancelled, f.cancelling_until_ms,
        EXISTS (SELECT 1 FROM order_fulfillment l
                WHERE l.fulfillment_id = f.fulfillment_id AND l.deleted_at IS NULL) AS linked,
        CASE WHEN s.status = 'creating' THEN s.lease_until_ms END AS in_call_until_ms,
        s.status = 'created' AS exists, s.body IS NOT NULL AS may_exist
      FROM waybill_fulfillments f
      LEFT JOIN waybill_sync s ON s.mode = f.mode AND s.local_order_id = f.order_id || '-' || f.number
      WHERE f.mode = $1 AND f.order_id = $2 ORDER BY f.number`;
    return (await this.#query(text, [this.#mode, orderId])) as unknown as Row[];
  }

  async #first(number: number, { orderId, fulfillmentId, contents }: Attempt): Promise<number | undefined> {
    const text = `INSERT INTO waybill_fulfillments
                    (mode, order_id, number, fulfillment_id, contents, attempt, attempted_at_ms)
                  VALUES ($1, $2, $3, $4, $5, 1, $6) ON CONFLICT DO NOTHING RETURNING number`;
    const params = [this.#mode, orderId, number, fulfillmentId, contents, this.#nowMs()];
    return (await this.#query(text, params)).length === 1 ? number : undefined;
  }

  async #retry(row: Row, { orderId, fulfillmentId, contents }: Attempt): Promise<number | undefined> {
    const nowMs = this.#nowMs();
    if (nowMs < Math.max(creatingUntilMs(row), Number(row.cancelling_until_ms))) return undefined;
    if ((row.exists || row.may_exist) && row.contents !== contents)
      throw new AttemptRefusedError("other_contents");
    const text = `UPDATE waybill_fulfillments
                  SET fulfillment_id = $1, contents = $2, attempt = attempt + 1, attempted_at_ms = $3,
                    cancelling_until_ms = NULL
                  WHERE mode = $4 AND order_id = $5 AND number = $6 AND attempt = $7 AND attempted_at_ms = $8
                    AND NOT cancelled AND cancelling_until_ms IS NOT DISTINCT FROM $9::bigint RETURNING number`;
    const unchanged = [row.number, row.attempt, row.attempted_at_ms, row.cancelling_until_ms];
    const params = [fulfillmentId, contents, nowMs, this.#mode, orderId, ...unchanged];
    return (await this.#query(text, params)).length === 1 ? row.number : undefined;
  }
}

function creatingUntilMs(row: Row): number {
  return Math.max(Number(row.in_call_until_ms), Number(row.attempted_at_ms) + ATTEMPT_MS);
}

function keyOf(reference: string): [string, number] | undefined {
  const [, orderId, number] = /^(.+)-(\d{1,9})$/.exec(reference) ?? [];
  return orderId === undefined ? undefined : [orderId, Number(number)];
}
