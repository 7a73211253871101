/** The fulfilment provider that Medusa calls. */
import { AbstractFulfillmentProviderService, ContainerRegistrationKeys } from "@medusajs/framework/utils";
import {
  ApiError,
  ConflictError,
  type Delivery,
  SqlSyncStore,
  Sync,
  type SyncOutcome,
  type Waybill,
} from "@waybill/client";
import { type Connection, type Database, openDatabase, paidOf } from "./database.js";
import { AttemptRefusedError, Deliveries } from "./deliveries.js";
import {
  attemptFailed,
  cancellationFailed,
  creationFailed,
  otherDelivered,
  otherDelivery,
  readingFailed,
  refused,
} from "./messages.js";
import { clientOf, type ProviderOptions, problemsOf } from "./options.js";
import { contentsOf, type MedusaItem, type MedusaOrder, toWaybill } from "./order-body.js";

/** Medusa's own steps of a cancellation, after the calls. */
const CANCELLED_WITHIN_MS = 10_000;
/** Statuses in which no delivery is under way. */
const ENDED = new Set(["cancelled", "failed", "returned"]);
/** Part of every Idempotency-Key. Another value would create the deliveries of open attempts again. */
const WEBSITE = "medusa";

/** What the provider stores in a fulfilment's `data`. */
interface StoredData {
  reference?: unknown;
  deliveryId?: unknown;
  fulfillmentId?: unknown;
}

/** The reference of a delivery, and the id of the fulfilment that may have it. */
type Own = readonly [reference: string, fulfillmentId: string];

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
    const problems = problemsOf(options);
    if (problems.length > 0) throw new TypeError(`options of @waybill/medusa: ${problems.join("; ")}`);
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
    const { database, deliveries, sync } = await this.#records();
    const attempt = { orderId: String(order.id), fulfillmentId, contents: contentsOf(items) };
    let reference: string | undefined;
    try {
      reference = await deliveries.begin(attempt);
      const { shipping_option_id: shippingOptionId, delivery_address: changed } = fulfillment;
      // The merchant may have corrected the recipient for this fulfilment only.
      const addressed = { ...order, shipping_address: changed ?? order.shipping_address };
      const paid = await paidOf(database, attempt.orderId);
      const body = toWaybill(
        reference,
        data.id,
        { ...addressed, paid },
        items,
        shippingOptionId,
        this.#options,
      );
      // The service refuses the new body if it accepted an earlier one, because both have the same key.
      if (await sync.hasChanged(reference, body)) await deliveries.forgetBody(reference);
      const outcome = await sync.ensure(reference, () => body);
      const hasOtherBody = await sync.hasChanged(reference, body);
      const delivery = await this.#deliveryOf(outcome, hasOtherBody, [reference, fulfillmentId], deliveries);
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
    const own: Own = [String(reference), String(fulfillmentId)];
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
  async #deliveryOf(outcome: SyncOutcome, hasOtherBody: boolean, own: Own, deliveries: Deliveries) {
    if (outcome.status === "in_progress") throw new AttemptRefusedError("busy");
    if (outcome.status === "failed") {
      const other = outcome.cause instanceof ApiError ? outcome.cause.order : undefined;
      if (other) throw await this.#refusalOf(other, own, deliveries);
      throw creationFailed(outcome.error, outcome.cause);
    }
    const { status, delivery } = outcome;
    if (hasOtherBody) throw await this.#refusalOf(delivery, own, deliveries);
    if (status !== "created" && ENDED.has(await this.#statusOf(delivery.id))) {
      await deliveries.setCancelled(...own);
      throw new AttemptRefusedError("ended");
    }
    if (!(await deliveries.startLinking(...own))) throw new AttemptRefusedError("busy");
    return delivery;
  }

  /** Why a delivery with another body is not this fulfilment's. Once it has ended, the next one gets a new delivery. */
  async #refusalOf({ id, trackingCode }: Delivery, own: Own, deliveries: Deliveries): Promise<Error> {
    const status = await this.#statusOf(id);
    const isDelivered = status === "delivered";
    if (!isDelivered && !ENDED.has(status)) return otherDelivery(trackingCode);
    await deliveries.setCancelled(...own);
    return isDelivered ? otherDelivered(trackingCode) : new AttemptRefusedError("ended");
  }

  /** Its failure only makes the merchant wait, and must not replace the message that explains why. */
  async #logged(work: Promise<void>): Promise<void> {
    await work.catch((error) => this.#logger.error("the end of a delivery's attempt was not stored", error));
  }

  async #cancel(deliveryId: string): Promise<void> {
    try {
      await this.#client.orders.cancel(deliveryId);
    } catch (error) {
      if (!(error instanceof ConflictError) || !ENDED.has(await this.#statusOf(deliveryId))) throw error;
    }
  }

  async #statusOf(deliveryId: string): Promise<string> {
    try {
      return (await this.#client.orders.get(deliveryId)).status;
    } catch (error) {
      throw readingFailed(error);
    }
  }

  async #records(): Promise<{ database: Database; deliveries: Deliveries; sync: Sync }> {
    const database = await openDatabase(this.#connection);
    const { mode, environment } = this.#client;
    const store = new SqlSyncStore({ query: database.query, mode });
    const sync = new Sync({ client: this.#client, store, website: WEBSITE, recoverOtherBody: false });
    return { database, deliveries: new Deliveries(database, mode, environment.nowMs), sync };
  }
}
