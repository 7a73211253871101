/** Applies each event once and in order, whether it arrives as a webhook or from the feed. */
import type { Waybill } from "./client.js";
import { type Dialect, type Query, rowsOf, type Transaction, textOf } from "./database.js";
import { type RefusalReason, WebhookError } from "./errors.js";
import type { CursorStore, FollowOptions } from "./events.js";
import type { Mode, WebhookEvent } from "./types.js";
import { constructEvent, parseSecrets, type VerifyOptions, type WebhookHeaders } from "./webhooks.js";

/**
 * Does the work of one event, with the transaction's own `query`. It only updates local orders that exist. If it
 * throws, nothing is stored, and the event comes again.
 */
export type Apply = (event: WebhookEvent, query: Query) => Promise<void> | void;

export type Receipt = "applied" | "duplicate" | "stale" | "other_mode";

/** `other_mode` is answered with 200; all others with 401. */
export type IgnoredReason = RefusalReason | "other_mode";

export interface ReceiverOptions extends VerifyOptions {
  transaction: Transaction;
  /** The signing secrets: one, or two while you rotate. */
  secrets: string | readonly string[];
  /** Events of the other mode are ignored, because their references may be the same. */
  mode: Mode;
  dialect?: Dialect;
  /** Called instead of `apply` for an event older than the last one of its order, to record what matters on its own. */
  onStale?: Apply;
  /** Called when a webhook is not applied because it is refused or of the other mode; by default, the reason is logged. */
  onRefused?: (reason: IgnoredReason) => void;
}

// biome-ignore lint/suspicious/noConsole: the sender learns no reason, and a wrong clock must not look like a wrong secret.
export const logRefusal = (reason: IgnoredReason) => console.error(`webhook refused: ${reason}`);

export class Receiver {
  // Private, so that dumps do not show the secrets.
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    parseSecrets(options.secrets);
    this.#options = options;
  }

  /**
   * Verifies a webhook and applies its event. Answer 200 for every receipt.
   *
   * @throws WebhookError if it cannot be trusted: answer 401.
   */
  async receive(rawBody: Uint8Array | string, headers: WebhookHeaders, apply: Apply): Promise<Receipt> {
    const { secrets, mode, onRefused = logRefusal } = this.#options;
    let event: WebhookEvent;
    try {
      event = constructEvent(rawBody, headers, secrets, this.#options);
    } catch (error) {
      if (error instanceof WebhookError) onRefused(error.reason);
      throw error;
    }
    if (event.mode !== mode) onRefused("other_mode");
    return this.accept(event, apply);
  }

  /** Applies an event that is trusted already, because it comes from the feed. */
  accept(event: WebhookEvent, apply: Apply): Promise<Receipt> {
    if (event.mode !== this.#options.mode) return Promise.resolve("other_mode");
    return this.#options.transaction(async (query) => {
      if (!(await this.#isNew(query, event))) return "duplicate";
      if (await this.#isNext(query, event)) {
        await apply(event, query);
        return "applied";
      }
      await this.#options.onStale?.(event, query);
      return "stale";
    });
  }

  /** Follows the feed into the same tables, under a name for this reader. Returns when the signal aborts. */
  async follow(
    client: Waybill,
    reader: string,
    apply: Apply,
    options: FollowOptions & { onReceipt?: (event: WebhookEvent, receipt: Receipt) => void } = {},
  ): Promise<void> {
    if (client.mode !== this.#options.mode)
      throw new TypeError("the receiver and the key have different modes");
    try {
      for await (const event of client.events.follow(this.#cursors(reader), options)) {
        const receipt = await this.accept(event, apply);
        options.onReceipt?.(event, receipt);
      }
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    }
  }

  /** Forgets the ids of events before a time. Keep 30 days or more: the service sends none again after that. */
  async forget(before: Date): Promise<number> {
    const rows = await this.#options.transaction((query) =>
      this.#rows(query, "DELETE FROM waybill_events WHERE received_at_ms < $1 RETURNING event_id", [
        before.getTime(),
      ]),
    );
    return rows.length;
  }

  #rows(query: Query, text: string, params: unknown[]) {
    return rowsOf(query, this.#options.dialect ?? "postgres", text, params);
  }

  async #isNew(query: Query, event: WebhookEvent): Promise<boolean> {
    const text = `INSERT INTO waybill_events (event_id, received_at_ms) VALUES ($1, $2)
                  ON CONFLICT (event_id) DO NOTHING RETURNING event_id`;
    const nowMs = Math.floor((this.#options.nowSeconds ?? Date.now() / 1_000) * 1_000);
    return (await this.#rows(query, text, [event.id, nowMs])).length === 1;
  }

  /** Events without an order, or of a later form, wait for no others. The row's lock keeps two events of an order apart. */
  async #isNext(query: Query, { order, sequence }: WebhookEvent): Promise<boolean> {
    if (!order?.id || typeof order.id !== "string" || !Number.isSafeInteger(sequence)) return true;
    const text = `INSERT INTO waybill_sequences (order_id, last_sequence) VALUES ($1, $2)
                  ON CONFLICT (order_id) DO UPDATE SET last_sequence = excluded.last_sequence
                  WHERE waybill_sequences.last_sequence < excluded.last_sequence RETURNING order_id`;
    return (await this.#rows(query, text, [order.id, sequence])).length === 1;
  }

  #cursors(reader: string): CursorStore {
    const { transaction } = this.#options;
    const load = `SELECT feed_cursor FROM waybill_cursors WHERE reader = $1`;
    const save = `INSERT INTO waybill_cursors (reader, feed_cursor) VALUES ($1, $2)
                  ON CONFLICT (reader) DO UPDATE SET feed_cursor = excluded.feed_cursor RETURNING reader`;
    return {
      load: async () => {
        const [row] = await transaction((query) => this.#rows(query, load, [reader]));
        return textOf(row?.feed_cursor) ?? null;
      },
      save: async (cursor) => {
        await transaction((query) => this.#rows(query, save, [reader, cursor]));
      },
    };
  }
}
