/** Names for the types that are generated from the OpenAPI document. */
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];

export type NewOrder = Schemas["NewOrder"];
export type NewReattempt = Schemas["NewReattempt"];
export type NewDeliveryDetails = Schemas["NewDeliveryDetails"];
export type OrderCreated = Schemas["OrderCreated"];
export type Order = Schemas["Order"];
export type OrderEvidence = Schemas["OrderEvidence"];
export type ExistingOrder = Schemas["ExistingOrder"];
export type SimulatedOrder = Schemas["SimulatedOrder"];
export type SimulatedEvent = Schemas["SimulatedEvent"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type FieldError = Schemas["Fault"];
export type Warning = Schemas["Warning"];
export type ErrorBody = Schemas["Error"];
export type Mode = Schemas["Mode"];

type Filters<Operation extends keyof operations> = NonNullable<operations[Operation]["parameters"]["query"]>;
export type OrderFilters = Filters<"listOrders">;
export type TimelineFilters = Filters<"listOrderEvents">;

type OtherEvent = Schemas["OtherWebhookEvent"];

/** An event of a kind that this version of the package knows. */
export type KnownEvent = Exclude<Schemas["WebhookEvent"], OtherEvent>;

/** An event of a kind that was added later. Ignore it, and answer it with 200. */
export type UnknownEvent = Omit<OtherEvent, "event" | "data"> & {
  // `& {}` keeps the union of known kinds visible in editors.
  event: string & {};
  data: Record<string, unknown>;
};

export type WebhookEvent = KnownEvent | UnknownEvent;

// `satisfies` refuses a missing kind as well as one that the document does not have.
const KINDS = {
  "order.created": true,
  "driver.assigned": true,
  "driver.unassigned": true,
  "order.picked_up": true,
  "order.out_for_delivery": true,
  "order.delivered": true,
  "order.failed": true,
  "order.cancelled": true,
  "order.returned": true,
  "order.reattempt_scheduled": true,
  "order.returning": true,
  "cod.collected": true,
  "cod.handed_over": true,
  "cod.settled": true,
  "wallet.low_balance": true,
  "webhook.test": true,
} satisfies Record<KnownEvent["event"], true>;

/** Whether a JSON value is an event of any kind. */
export function isEvent(value: unknown): value is WebhookEvent {
  const event = value as Partial<WebhookEvent> | null;
  return typeof event?.id === "string" && typeof event.event === "string";
}

/** Narrows an event to the known kinds, so that `switch (event.event)` has typed data. */
export function isKnown(event: WebhookEvent): event is KnownEvent {
  return Object.hasOwn(KINDS, event.event);
}
