/** The webhook route: events of deliveries become shipments and deliveries in Medusa. */
import type { MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import {
  cancelOrderFulfillmentWorkflow,
  createOrderShipmentWorkflow,
  markOrderFulfillmentAsDeliveredWorkflow,
  updateFulfillmentWorkflow,
} from "@medusajs/medusa/core-flows";
import {
  isKnown,
  type Mode,
  Receiver,
  type Transaction,
  WebhookError,
  type WebhookEvent,
} from "@waybill/client";
import { type Connection, openDatabase } from "./database.js";
import { Deliveries, type Held } from "./deliveries.js";

/**
 * Each holds a database connection while Medusa's workflows need others. If they held all of the pool, none would end.
 * The others wait.
 */
const RECEIVED_AT_ONCE = 2;

export interface WebhookOptions {
  /** The signing secrets of your endpoint: one, or two while you rotate. */
  secrets: string | readonly string[];
  /** Of your API key: events of the other mode are ignored. */
  mode: "test" | "live";
  /** The first word of the operator's own headers. */
  headerPrefix?: string;
}

/** For `src/api/middlewares.ts`: signatures cover the raw bytes. */
export function webhookMiddleware(matcher: string) {
  return { matcher, methods: ["POST" as const], bodyParser: { preserveRawBody: true } };
}

/** For a `route.ts`: `export const POST = webhookRoute({ … })`. */
export function webhookRoute(options: WebhookOptions) {
  const receiverOf = (transaction: Transaction) => new Receiver({ ...options, transaction });
  // Refuses a wrong secret when Medusa starts.
  receiverOf(() => Promise.reject(new Error("the database is not open")));
  const lanes = new Lanes(RECEIVED_AT_ONCE);
  return async (request: MedusaRequest, response: MedusaResponse): Promise<void> => {
    const { rawBody, scope } = request;
    if (!Buffer.isBuffer(rawBody)) throw new TypeError("add webhookMiddleware to src/api/middlewares.ts");
    const database = await openDatabase(scope.resolve<Connection>(ContainerRegistrationKeys.PG_CONNECTION));
    const deliveries = new Deliveries(database, options.mode as Mode, Date.now);
    try {
      const receiver = receiverOf(database.transaction);
      const receive = () =>
        receiver.receive(rawBody, request.headers, (event) => apply(event, deliveries, scope));
      const receipt = await lanes.run(receive);
      response.status(200).json({ received: true, receipt });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      response.status(401).json({ message: "The signature does not match." });
    }
  };
}

class Lanes {
  readonly #ends: Promise<unknown>[];
  #next = 0;

  constructor(count: number) {
    this.#ends = Array.from({ length: count }, () => Promise.resolve());
  }

  /** Begins when all earlier work of its lane has ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const lane = this.#next++ % this.#ends.length;
    const done = Promise.resolve(this.#ends[lane]).then(work);
    // The caller gets the error.
    this.#ends[lane] = done.catch(() => undefined);
    return done;
  }
}

interface Fulfillment {
  id: string;
  shipped_at: unknown;
  delivered_at: unknown;
  canceled_at: unknown;
  metadata: Record<string, unknown> | null;
  items: { line_item_id: string; quantity: number }[];
  labels: { tracking_number: string; tracking_url: string; label_url: string }[];
}

/**
 * Brings the fulfilment to the state that the event reports. Medusa's workflows do not take part in the receiver's
 * transaction, so an event may come again after its work was done.
 */
async function apply(event: WebhookEvent, deliveries: Deliveries, scope: MedusaContainer): Promise<void> {
  if (!isKnown(event) || !event.order) return;
  const held = await deliveries.find(event.order.orderReference);
  // Another website's order, or a fulfilment that is already cancelled here.
  if (!held || held.cancelled) return;
  const fulfillment = await linkedFulfillment(held, scope);
  if (fulfillment?.canceled_at) return;
  switch (event.event) {
    case "order.picked_up":
    case "order.out_for_delivery":
      return ship(held, required(fulfillment), scope);
    case "order.delivered":
      // The pickup may have been skipped as older than this event.
      await ship(held, required(fulfillment), scope);
      return deliver(held, required(fulfillment), scope);
    case "order.cancelled":
      if (!fulfillment || fulfillment.shipped_at) {
        await deliveries.setCancelled(event.order.orderReference, held.fulfillmentId, true);
        return fulfillment && note(fulfillment, event.order.status, scope);
      }
      return cancel(held, scope);
    case "order.failed":
    case "order.returned":
      return note(required(fulfillment), event.order.status, scope);
  }
}

/** Undefined while Medusa is still creating it, and after a failed attempt. */
async function linkedFulfillment(held: Held, scope: MedusaContainer): Promise<Fulfillment | undefined> {
  const query = scope.resolve<{
    graph(of: object): Promise<{ data: { fulfillments?: Fulfillment[] }[] }>;
  }>(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({
    entity: "order",
    fields: ["id", "fulfillments.*", "fulfillments.items.*", "fulfillments.labels.*"],
    filters: { id: held.orderId },
  });
  return data[0]?.fulfillments?.find(({ id }) => id === held.fulfillmentId);
}

/** The service sends the event again after the error. */
function required(fulfillment: Fulfillment | undefined): Fulfillment {
  if (!fulfillment) throw new Error("the fulfilment of this delivery does not exist yet");
  return fulfillment;
}

async function ship({ orderId }: Held, fulfillment: Fulfillment, scope: MedusaContainer): Promise<void> {
  if (fulfillment.shipped_at) return;
  const items = fulfillment.items.map(({ line_item_id: id, quantity }) => ({ id, quantity }));
  // Medusa replaces the labels by these.
  const labels = fulfillment.labels.map(({ tracking_number, tracking_url, label_url }) => ({
    tracking_number,
    tracking_url,
    label_url,
  }));
  const input = { order_id: orderId, fulfillment_id: fulfillment.id, items, labels };
  await createOrderShipmentWorkflow(scope).run({ input });
}

async function deliver({ orderId }: Held, fulfillment: Fulfillment, scope: MedusaContainer): Promise<void> {
  if (fulfillment.delivered_at) return;
  const input = { orderId, fulfillmentId: fulfillment.id };
  await markOrderFulfillmentAsDeliveredWorkflow(scope).run({ input });
}

/** Cancelled in the portal or by the fleet. The workflow cancels at the service again, which changes nothing. */
async function cancel({ orderId, fulfillmentId }: Held, scope: MedusaContainer): Promise<void> {
  const input = { order_id: orderId, fulfillment_id: fulfillmentId };
  await cancelOrderFulfillmentWorkflow(scope).run({ input });
}

/** Medusa has no state for it, so the merchant finds it in the fulfilment's metadata. */
async function note({ id, metadata }: Fulfillment, status: string, scope: MedusaContainer): Promise<void> {
  const input = { id, metadata: { ...metadata, delivery_status: status } };
  await updateFulfillmentWorkflow(scope).run({ input });
}
