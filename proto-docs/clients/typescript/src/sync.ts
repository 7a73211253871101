/**
 * Creates the one delivery of a local order, however often and from however many processes it is asked for.
 *
 * A process that dies during its call leaves `creating` behind. When its lease has ended, the next call repeats the
 * request with the same key and body, so the service returns the delivery that it created, if any.
 */
import type { Waybill } from "./client.js";
import { ApiError, OrderExistsError, WaybillError } from "./errors.js";
import { checkIdempotencyKey } from "./orders.js";
import { isTransient } from "./retry.js";
import { type Delivery, type OpenRecord, type SyncError, type SyncStore, sha256Of } from "./sync-store.js";
import type { ExistingOrder, NewOrder } from "./types.js";

/** How much longer than the client's deadline a lease is: time to store the outcome. */
const LEASE_MARGIN_MS = 30_000;

/** The service has not accepted this body, so the next attempt may send a corrected one. Otherwise it repeats it. */
const BODY_REFUSED = new Set([400, 402, 413, 415, 422]);

/** Between the attempts of `retryDue`: growing, for about half a day. */
const RETRY_MIN_MS = 30_000;
const RETRY_MAX_MS = 3_600_000;
const RETRIES_MAX = 20;
const LIMIT = 100;
const WORK_EVERY_MS = 15_000;

export type SyncOutcome =
  | { status: "created" | "recovered" | "already_created"; delivery: Delivery }
  | { status: "in_progress" }
  /** Keep the customer's order, show the error to your staff, and call again for this one order. */
  | {
      status: "failed";
      error: SyncError;
      /** Whether `retryDue` repeats it: the service was busy or unreachable. Otherwise a person has to do something first. */
      retryable: boolean;
      /** When. */
      retryAfterMs?: number;
      cause?: WaybillError;
    };

export interface SyncOptions {
  client: Waybill;
  store: SyncStore;
  /**
   * Of your website; the Idempotency-Key is `<website>-<local order id>`. Never change it. Several websites of one account
   * need different references: an existing delivery with the order's reference counts as this order's.
   */
  website: string;
  /** Longer than the client's deadline by at least a second. */
  leaseMs?: number;
  /**
   * Whether a delivery that has the key or the reference is this order's if its body differs. True by default: the body
   * may differ after the sync record was lost. With false the call fails, and its `cause` has the delivery as `order`.
   */
  recoverOtherBody?: boolean;
}

/** Builds the body of an order of yours. Called only if no earlier attempt may have sent a body. */
export type ToWaybill = (localOrderId: string) => NewOrder | Promise<NewOrder>;

export interface RetryOptions {
  /** At most so many orders; 100 by default. */
  limit?: number;
  signal?: AbortSignal;
  onOutcome?: (localOrderId: string, outcome: SyncOutcome) => void;
  /** For an order whose call throws, for instance in `toWaybill`; undefined if the records cannot be read. */
  onError?: (error: unknown, localOrderId: string | undefined) => void;
}

export class Sync {
  readonly #client: Waybill;
  readonly #store: SyncStore;
  readonly #website: string;
  readonly #leaseMs: number;
  readonly #recoverOtherBody: boolean;

  constructor(options: SyncOptions) {
    const { client, store, website, leaseMs = client.deadlineMs + LEASE_MARGIN_MS } = options;
    if (!Number.isSafeInteger(leaseMs) || leaseMs < client.deadlineMs + 1_000) {
      throw new TypeError(
        "leaseMs must be whole, and longer than the client's deadline by at least a second",
      );
    }
    this.#client = client;
    this.#store = store;
    this.#website = website;
    this.#leaseMs = leaseMs;
    this.#recoverOtherBody = options.recoverOtherBody ?? true;
    checkIdempotencyKey(this.#keyOf("1"));
  }

  /**
   * Call it when the order is confirmed, and again when somebody retries a failed order. Never call it for old orders
   * or at the start. `toWaybill` is called only if no earlier attempt may have sent a body.
   */
  async ensure(localOrderId: string, toWaybill: () => NewOrder | Promise<NewOrder>): Promise<SyncOutcome> {
    checkIdempotencyKey(this.#keyOf(localOrderId));
    const { nowMs } = this.#client.environment;
    const record = await this.#store.get(localOrderId);
    if (record?.delivery) return { status: "already_created", delivery: record.delivery };
    if (record?.status === "creating" && record.leaseUntilMs > nowMs()) return { status: "in_progress" };

    const body = record?.body ?? JSON.stringify(await toWaybill());
    const startedAt = nowMs();
    const claim = await this.#store.claim(localOrderId, body, startedAt, startedAt + this.#leaseMs);
    if (!claim) return this.#outcomeOfOther(localOrderId);

    let delivery: Delivery;
    let [recovered, bodySha256] = [true, ""];
    try {
      const idempotencyKey = this.#keyOf(localOrderId);
      const order = await this.#client.orders.create(claim.body, { idempotencyKey });
      delivery = deliveryOf(order);
      [recovered, bodySha256] = [order.replayed, sha256Of(claim.body)];
    } catch (error) {
      const found = this.#recoverOtherBody ? existingOrder(error, claim.body) : undefined;
      if (!found) return this.#fail(localOrderId, claim.attempt, error);
      delivery = deliveryOf(found);
    }
    await this.#store.created(localOrderId, delivery, bodySha256);
    return { status: recovered ? "recovered" : "created", delivery };
  }

  /** The orders without a delivery, the longest untouched first, to show them to your staff. */
  open(limit = LIMIT): Promise<OpenRecord[]> {
    return this.#store.open(limit);
  }

  /**
   * Repeats what is due, one order after the other: attempts that failed because the service was busy or unreachable, with
   * growing pauses, and those of processes that died. Call it from a scheduled job, or use `work`.
   */
  async retryDue(toWaybill: ToWaybill, options: RetryOptions = {}): Promise<void> {
    const { limit = LIMIT, signal, onOutcome, onError = logError } = options;
    for (const { localOrderId } of await this.#store.open(limit, this.#client.environment.nowMs())) {
      if (signal?.aborted) return;
      try {
        const outcome = await this.ensure(localOrderId, () => toWaybill(localOrderId));
        onOutcome?.(localOrderId, outcome);
      } catch (error) {
        onError(error, localOrderId);
      }
    }
  }

  /** Calls `retryDue` until the signal aborts. Several processes may do so at once. */
  async work(toWaybill: ToWaybill, options: RetryOptions & { everyMs?: number } = {}): Promise<void> {
    const { everyMs = WORK_EVERY_MS, signal, onError = logError } = options;
    while (!signal?.aborted) {
      await this.retryDue(toWaybill, options).catch((error) => onError(error, undefined));
      await this.#client.environment.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  /**
   * Whether the order differs from what was sent last, or may differ, because the delivery was recovered with a body
   * that is unknown here. Build it with the same function as for `ensure`.
   */
  async hasChanged(localOrderId: string, order: NewOrder): Promise<boolean> {
    const record = await this.#store.get(localOrderId);
    return record !== undefined && record.bodySha256 !== sha256Of(JSON.stringify(order));
  }

  #keyOf(localOrderId: string): string {
    return `${this.#website}-${localOrderId}`;
  }

  async #fail(localOrderId: string, attempt: number, cause: unknown): Promise<SyncOutcome> {
    const known = cause instanceof WaybillError;
    const error = known
      ? { code: cause.code, message: cause.message }
      : { code: "internal", message: "The call failed in this process." };
    const keepBody = !(cause instanceof ApiError && BODY_REFUSED.has(cause.status));
    const retryAfterMs = retryAfter(cause, attempt);
    const retryAtMs = retryAfterMs && this.#client.environment.nowMs() + retryAfterMs;
    const latest = await this.#store.failed(localOrderId, attempt, error, keepBody, retryAtMs);
    if (!known) throw cause;
    return latest
      ? { status: "failed", error, ...retryOf(retryAfterMs), cause }
      : this.#outcomeOfOther(localOrderId);
  }

  /** Another caller got the claim. */
  async #outcomeOfOther(localOrderId: string): Promise<SyncOutcome> {
    const record = await this.#store.get(localOrderId);
    if (record?.delivery) return { status: "already_created", delivery: record.delivery };
    if (record?.status === "failed" && record.error) {
      const left = record.retryAtMs && Math.max(0, record.retryAtMs - this.#client.environment.nowMs());
      return { status: "failed", error: record.error, ...retryOf(left) };
    }
    return { status: "in_progress" };
  }
}

/** The pause after an attempt that failed by itself; undefined if a person decides. */
function retryAfter(cause: unknown, attempt: number): number | undefined {
  if (!isTransient(cause) || attempt >= RETRIES_MAX) return undefined;
  const growing = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (attempt - 1));
  return Math.max(growing, cause instanceof ApiError ? (cause.retryAfterMs ?? 0) : 0);
}

function retryOf(retryAfterMs: number | undefined): { retryable: boolean; retryAfterMs?: number } {
  return retryAfterMs === undefined ? { retryable: false } : { retryable: true, retryAfterMs };
}

const logError = (error: unknown, localOrderId?: string) => {
  // biome-ignore lint/suspicious/noConsole: an order that stays open without a word would be forgotten.
  console.error("waybill sync:", localOrderId, error);
};

/** The delivery of this local order that the service has already, if the error contains it. */
function existingOrder(error: unknown, body: string): ExistingOrder | undefined {
  if (error instanceof OrderExistsError) return error.order;
  // After the sync record was lost, a new body may differ. Key and reference still prove that it is the same order.
  if (!(error instanceof ApiError) || error.code !== "idempotency_key_reused") return undefined;
  const { orderReference }: Partial<NewOrder> = JSON.parse(body);
  return error.order?.orderReference === orderReference ? error.order : undefined;
}

function deliveryOf({ id, trackingCode, trackingUrl, status }: Delivery): Delivery {
  return { id, trackingCode, trackingUrl, status };
}
