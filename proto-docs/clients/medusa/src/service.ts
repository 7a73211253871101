/** The fulfilment provider that Medusa calls. */
import { AbstractFulfillmentProviderService, ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { ConflictError, SqlSyncStore, Sync, type SyncOutcome, Waybill } from "@waybill/client";
import { type Connection, openDatabase } from "./database.js";
import { AttemptRefusedError, Deliveries } from "./deliveries.js";
import { attemptFailed, cancellationFailed, creationFailed, readingFailed, refused } from "./messages.js";
import { type BodyOptions, contentsOf, type MedusaItem, type MedusaOrder, toWaybill } from "./order-body.js";

/** The merchant waits for the answer in Medusa. */
const DEADLINE_MS = 20_000;
/** Medusa's own steps of a cancellation, after the calls. */
const CANCELLED_WITHIN_MS = 10_000;
/** Statuses in which no delivery is under way. */
const ENDED = new Set(["cancelled", "failed", "returned"]);
/** Part of every Idempotency-Key. Another value would create the deliveries of open attempts again. */
const WEBSITE = "medusa";

export interface ProviderOptions extends BodyOptions {
  apiKey: string;
  /** Of the delivery API; ends with /v1. */
  baseUrl: string;
  deadlineMs?: number;
}

/** What the provider stores in a fulfilment's `data`. */
interface StoredData {
  reference?: unknown;
  deliveryId?: unknown;
  fulfillmentId?: unknown;
}

interface Logger {
  error(message: string, error: Error): unknown;
}

export class WaybillFulfillment extends AbstractFulfillmentProviderService {
  static override identifier = "waybill";

  readonly #connection: Connection;
  readonly #logger: Logger;
  readonly #client: Waybill;
  readonly #options: ProviderOptions;

  constructor(container: Record<string, unknown>, options: ProviderOptions) {
    super();
    this.#connection = container[ContainerRegistrationKeys.PG_CONNECTION] as Connection;
    this.#logger = container[ContainerRegistrationKeys.LOGGER] as Logger;
    this.#options = options;
    this.#client = clientOf(options);
  }

  /** Medusa calls it at its start, so that it does not start with a wrong option. */
  static validateOptions(options: Record<string, unknown>): void {
    clientOf(options as unknown as ProviderOptions);
  }

  override async getFulfillmentOptions() {
    return [
      { id: "delivery", name: "Delivery, paid in advance" },
      { id: "cod", name: "Delivery, cash at the door" },
    ];
  }

  override async validateOption(data: Record<string, unknown>): Promise<boolean> {
    return data.id === "delivery" || data.id === "cod";
  }

  override async validateFulfillmentData(
    optionData: Record<string, unknown>,
    data: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    return { ...data, id: optionData.id };
  }

  override async canCalculate(): Promise<boolean> {
    return false;
  }

  override async createFulfillment(
    data: Record<string, unknown>,
    items: MedusaItem[],
    order: MedusaOrder | undefined,
    fulfillment: { id?: unknown; shipping_option_id?: unknown; delivery_address?: unknown },
  ) {
    if (!order) throw refused("Only the items of an order can be delivered.");
    const fulfillmentId = String(fulfillment.id);
    const { deliveries, sync } = await this.#records();
    const attempt = { orderId: String(order.id), fulfillmentId, contents: contentsOf(items) };
    let reference: string | undefined;
    try {
      reference = await deliveries.begin(attempt);
      const { shipping_option_id: shippingOptionId, delivery_address: changed } = fulfillment;
      const of = reference;
      // The merchant may have corrected the recipient for this fulfilment only.
      const addressed = { ...order, shipping_address: changed ?? order.shipping_address };
      const body = () => toWaybill(of, data.id, addressed, items, shippingOptionId, this.#options);
      const outcome = await sync.ensure(of, body);
      const delivery = await this.#deliveryOf(outcome, of, fulfillmentId, deliveries);
      const { id: deliveryId, trackingCode, trackingUrl } = delivery;
      return {
        data: { ...data, reference, deliveryId, fulfillmentId, trackingCode, trackingUrl },
        labels: [{ tracking_number: trackingCode, tracking_url: trackingUrl, label_url: trackingUrl }],
      };
    } catch (error) {
      if (reference) await this.#logged(deliveries.end(reference, fulfillmentId));
      throw attemptFailed(error);
    }
  }

  override async cancelFulfillment(data: Record<string, unknown>): Promise<Record<string, never>> {
    const { reference, deliveryId, fulfillmentId }: StoredData = data;
    // Nothing was created.
    if (typeof deliveryId !== "string") return {};
    const { deliveries } = await this.#records();
    const own = [String(reference), String(fulfillmentId)] as const;
    // Before the calls, because their event may arrive first; see `webhook.ts`.
    const maxMs = 2 * this.#client.deadlineMs + CANCELLED_WITHIN_MS;
    if (!(await deliveries.startCancelling(...own, maxMs))) return {};
    try {
      await this.#cancel(deliveryId);
    } catch (error) {
      await this.#logged(deliveries.stopCancelling(...own));
      throw cancellationFailed(error);
    }
    await deliveries.setCancelled(...own);
    return {};
  }

  override async createReturnFulfillment(): Promise<never> {
    throw refused("Returns are not collected by this provider: use a return option of another one.");
  }

  /** The delivery, if this fulfilment may have it. */
  async #deliveryOf(outcome: SyncOutcome, reference: string, fulfillmentId: string, deliveries: Deliveries) {
    if (outcome.status === "in_progress") throw new AttemptRefusedError("busy");
    if (outcome.status === "failed") throw creationFailed(outcome.error, outcome.cause);
    if (outcome.status !== "created" && (await this.#hasEnded(outcome.delivery.id))) {
      await deliveries.setCancelled(reference, fulfillmentId);
      throw new AttemptRefusedError("ended");
    }
    if (!(await deliveries.startLinking(reference, fulfillmentId))) throw new AttemptRefusedError("busy");
    return outcome.delivery;
  }

  /** Its failure only makes the merchant wait, and must not replace the message that explains why. */
  async #logged(work: Promise<void>): Promise<void> {
    await work.catch((error) => this.#logger.error("the end of a delivery's attempt was not stored", error));
  }

  async #cancel(deliveryId: string): Promise<void> {
    try {
      await this.#client.orders.cancel(deliveryId);
    } catch (error) {
      if (!(error instanceof ConflictError) || !(await this.#hasEnded(deliveryId))) throw error;
    }
  }

  async #hasEnded(deliveryId: string): Promise<boolean> {
    try {
      return ENDED.has((await this.#client.orders.get(deliveryId)).status);
    } catch (error) {
      throw readingFailed(error);
    }
  }

  async #records(): Promise<{ deliveries: Deliveries; sync: Sync }> {
    const database = await openDatabase(this.#connection);
    const { mode, environment } = this.#client;
    const store = new SqlSyncStore({ query: database.query, mode });
    const sync = new Sync({ client: this.#client, store, website: WEBSITE });
    return { deliveries: new Deliveries(database, mode, environment.nowMs), sync };
  }
}

function clientOf({ apiKey, baseUrl, deadlineMs = DEADLINE_MS }: ProviderOptions): Waybill {
  return new Waybill({ apiKey, baseUrl, deadlineMs, appInfo: "medusa" });
}
