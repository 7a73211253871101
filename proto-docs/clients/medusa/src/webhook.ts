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
  type IgnoredReason,
  isKnown,
  type Mode,
  Receiver,
  type Transaction,
  WebhookError,
  type WebhookEvent,
  webhooks,
} from "@waybill/client";
import { type Connection, openDatabase } from "./database.js";
import { Deliveries, type Held } from "./deliveries.js";
import { NotNowError, Turns } from "./turns.js";

/** Each holds a database connection while Medusa's workflows need others. If they held all of the pool, none would end. */
const RECEIVED_AT_ONCE = 2;
const WAITING_MAX = 100;
const RETRY_AFTER_SECONDS = "5";
/** Others change nothing in Medusa, and must not wait: the order's next events would wait behind them. */
const APPLIED: ReadonlySet<string> = new Set([
  "driver.assigned",
  "order.picked_up",
  "order.out_for_delivery",
  "order.delivered",
  "order.cancelled",
  "order.failed",
  "order.returned",
]);

interface Logger {
  warn(message: string): unknown;
}

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
  const { secrets } = options;
  const receiverOf = (transaction: Transaction) => new Receiver({ ...options, transaction });
  // Refuses a wrong secret when Medusa starts.
  receiverOf(() => Promise.reject(new Error("the database is not open")));
  const turns = new Turns(RECEIVED_AT_ONCE, WAITING_MAX);
  return async (request: MedusaRequest, response: MedusaResponse): Promise<void> => {
    const { rawBody, scope } = request;
    if (!Buffer.isBuffer(rawBody)) throw new TypeError("add webhookMiddleware to src/api/middlewares.ts");
    try {
      // Before it waits, so that nobody else fills the queue.
      const event = webhooks.constructEvent(rawBody, request.headers, secrets, options);
      const receive = async () => {
        // The service stopped waiting, and sends it again.
        if (response.destroyed) return;
        const connection = scope.resolve<Connection>(ContainerRegistrationKeys.PG_CONNECTION);
        const database = await openDatabase(connection);
        const deliveries = new Deliveries(database, options.mode as Mode, Date.now);
        const receiver = receiverOf(database.transaction);
        const receipt = await receiver.accept(event, () => apply(event, deliveries, scope));
        if (receipt === "other_mode") logRefusal(scope, receipt);
        response.status(200).json({ received: true, receipt });
      };
      await turns.run(receive);
    } catch (error) {
      if (error instanceof WebhookError) {
        logRefusal(scope, error.reason);
        response.status(401).json({ message: "The signature does not match." });
      } else if (error instanceof NotNowError) {
        response.status(503).set("retry-after", RETRY_AFTER_SECONDS).json({ message: error.message });
      } else throw error;
    }
  };
}

/** The sender learns no reason, and a wrong clock must not look like a wrong secret. */
function logRefusal(scope: MedusaContainer, reason: IgnoredReason): void {
  scope.resolve<Logger>(ContainerRegistrationKeys.LOGGER).warn(`webhook refused: ${reason}`);
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
  if (!isKnown(event) || !event.order || !APPLIED.has(event.event)) return;
  const held = await deliveries.find(event.order.orderReference);
  // Another website's order.
  if (!held) return;
  const fulfillment = await linkedFulfillment(held, scope);
  // Cancelled here.
  if (fulfillment ? fulfillment.canceled_at : held.cancelled) return;
  // The driver of a first attempt changes nothing, and waits for nothing.
  if (event.event === "driver.assigned") return renote(fulfillment, event.order.status, scope);
  if (held.cancelling) throw new NotNowError("The delivery is being cancelled.");
  if (!fulfillment && held.creating) throw new NotNowError("The fulfilment is being created.");
  switch (event.event) {
    case "order.picked_up":
    case "order.out_for_delivery":
      await renote(fulfillment, event.order.status, scope);
      return ship(held, required(fulfillment), scope);
    case "order.delivered":
      await renote(fulfillment, event.order.status, scope);
      // The pickup may have been skipped as older than this event.
      await ship(held, required(fulfillment), scope);
      return deliver(held, required(fulfillment), scope);
    case "order.cancelled":
      if (!fulfillment) return end(held, event.order.orderReference, deliveries);
      if (fulfillment.shipped_at) return note(fulfillment, event.order.status, scope);
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

/** No attempt got the delivery. The order's next fulfilment gets another one. */
async function end({ fulfillmentId }: Held, reference: string, deliveries: Deliveries): Promise<void> {
  if (!(await deliveries.setCancelled(reference, fulfillmentId)))
    throw new NotNowError("The fulfilment is being created again.");
}

/** The service sends the event again after the error. */
function required(fulfillment: Fulfillment | undefined): Fulfillment {
  if (!fulfillment) throw new NotNowError("The fulfilment of this delivery does not exist yet.");
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

/** After a failure the delivery may be attempted again: the metadata must not say any longer that it failed. */
async function renote(
  fulfillment: Fulfillment | undefined,
  status: string,
  scope: MedusaContainer,
): Promise<void> {
  if (fulfillment?.metadata?.delivery_status) await note(fulfillment, status, scope);
}

/** Medusa has no state for it, so the merchant finds it in the fulfilment's metadata. */
async function note({ id, metadata }: Fulfillment, status: string, scope: MedusaContainer): Promise<void> {
  const input = { id, metadata: { ...metadata, delivery_status: status } };
  await updateFulfillmentWorkflow(scope).run({ input });
}
