/** The calls about orders. */
import { DELIVERY_FIELDS } from "./errors.js";
import type { Transport } from "./transport.js";
import type {
  NewDeliveryDetails,
  NewOrder,
  NewReattempt,
  Order,
  OrderCreated,
  OrderEvidence,
  OrderFilters,
  SimulatedEvent,
  SimulatedOrder,
  TimelineEntry,
  TimelineFilters,
} from "./types.js";

export interface CallOptions {
  signal?: AbortSignal;
}

export interface CreateOptions extends CallOptions {
  /** Stable for the local order, such as `<website>-<order id>`. Use the same key for every attempt. */
  idempotencyKey: string;
}

/** `replayed`: the order already existed, and this is the answer to its first request. */
export type Created = OrderCreated & { replayed: boolean };

export interface TimelineOptions extends CallOptions {
  /** Called for each page that lacks the entries of services that did not answer (`wallet`, `webhook-dispatcher`). */
  onIncomplete?: (services: readonly string[]) => void;
}

interface Page<Entry> {
  data: Entry[];
  hasMore: boolean;
  next?: string;
  incomplete?: string[];
}

export class Orders {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates one delivery. Pass a text to send the stored bytes of an earlier attempt. */
  async create(order: NewOrder | string, options: CreateOptions): Promise<Created> {
    // JavaScript, and a forgotten argument.
    const { idempotencyKey, signal } = (options as CreateOptions | undefined) ?? {
      idempotencyKey: undefined,
    };
    checkIdempotencyKey(idempotencyKey);
    const body = typeof order === "string" ? order : JSON.stringify(order);
    const path = "/integration/orders";
    const expects = DELIVERY_FIELDS;
    const call = { method: "POST", path, body, idempotencyKey, repeatable: true, expects, signal } as const;
    const answer = await this.#transport.send<OrderCreated>(call);
    return { ...answer.body, replayed: answer.headers.get("idempotent-replayed") === "true" };
  }

  async get(id: string, options: CallOptions = {}): Promise<Order> {
    const expects = DELIVERY_FIELDS;
    const call = { method: "GET", path: pathOf(id), repeatable: true, expects, ...options } as const;
    return (await this.#transport.send<Order>(call)).body;
  }

  /** All orders that match: newest first, or with `updatedAfter` by their last change, oldest first. */
  list(filters: OrderFilters = {}, options: CallOptions = {}): AsyncGenerator<Order, void, void> {
    return this.#pages<Order>("/integration/orders", filters, options);
  }

  /** Everything that happened to an order, oldest first, but entries of money and webhooks that `onIncomplete` misses. */
  timeline(
    id: string,
    filters: TimelineFilters = {},
    options: TimelineOptions = {},
  ): AsyncGenerator<TimelineEntry, void, void> {
    return this.#pages<TimelineEntry>(`${pathOf(id)}/events`, filters, options);
  }

  /** Cancels an order before its pickup. A repeated call returns the same order. */
  async cancel(id: string, options: CallOptions & { reason?: string } = {}): Promise<Order> {
    const { reason, signal } = options;
    const body = JSON.stringify(reason === undefined ? {} : { reason });
    const path = `${pathOf(id)}/cancel`;
    const expects = DELIVERY_FIELDS;
    const call = { method: "POST", path, body, repeatable: true, expects, signal } as const;
    return (await this.#transport.send<Order>(call)).body;
  }

  /** Asks for another attempt at a delivery that failed after its pickup. A repeated call returns the same order. */
  reattempt(id: string, reattempt: NewReattempt = {}, options: CallOptions = {}): Promise<Order> {
    return this.#change(id, "reattempt", reattempt, options);
  }

  /** Asks for the parcel, after a delivery that failed after its pickup. A repeated call returns the same order. */
  requestReturn(id: string, options: CallOptions = {}): Promise<Order> {
    return this.#change(id, "return", {}, options);
  }

  /** Corrects the phone, the whole address, or both, before the delivery has ended. */
  correctDelivery(id: string, details: NewDeliveryDetails, options: CallOptions = {}): Promise<Order> {
    return this.#change(id, "delivery-details", details, options);
  }

  /** A code for the customer, who tells it to the driver. A repeated call returns the same code. */
  async issueDeliveryCode(id: string, { signal }: CallOptions = {}): Promise<string> {
    const expects = ["deliveryCode"];
    const path = `${pathOf(id)}/delivery-code`;
    const call = { method: "POST", path, body: "{}", repeatable: true, expects, signal } as const;
    return (await this.#transport.send<{ deliveryCode: string }>(call)).body.deliveryCode;
  }

  /** The records of an order's attempts, for disputes. */
  async evidence(id: string, options: CallOptions = {}): Promise<OrderEvidence> {
    const expects = ["order", "attempts"];
    const path = `${pathOf(id)}/evidence`;
    const call = { method: "GET", path, repeatable: true, expects, ...options } as const;
    return (await this.#transport.send<OrderEvidence>(call)).body;
  }

  async #change(id: string, name: string, content: object, { signal }: CallOptions): Promise<Order> {
    const [path, body] = [`${pathOf(id)}/${name}`, JSON.stringify(content)];
    const expects = DELIVERY_FIELDS;
    const call = { method: "POST", path, body, repeatable: true, expects, signal } as const;
    return (await this.#transport.send<Order>(call)).body;
  }

  /** Moves a test order. A lost answer is an error, because a second move would not be the same. */
  async simulate(id: string, event: SimulatedEvent, options: CallOptions = {}): Promise<SimulatedOrder> {
    const body = JSON.stringify({ event });
    const path = `${pathOf(id)}/simulate`;
    const expects = DELIVERY_FIELDS;
    const call = { method: "POST", path, body, repeatable: false, expects, ...options } as const;
    return (await this.#transport.send<SimulatedOrder>(call)).body;
  }

  async *#pages<Entry extends { id: string }>(
    path: string,
    filters: OrderFilters | TimelineFilters,
    { signal, onIncomplete }: TimelineOptions,
  ): AsyncGenerator<Entry, void, void> {
    let startingAfter = filters.startingAfter;
    for (;;) {
      const query = { limit: 100, ...filters, startingAfter };
      const expects = ["data", "hasMore"];
      const call = { method: "GET", path, query, repeatable: true, expects, signal } as const;
      const { body } = await this.#transport.send<Page<Entry>>(call);
      if (body.incomplete?.length) onIncomplete?.(body.incomplete);
      yield* body.data;
      startingAfter = body.next ?? body.data.at(-1)?.id;
      if (!body.hasMore || startingAfter === undefined) return;
    }
  }
}

export function checkIdempotencyKey(key: unknown): asserts key is string {
  if (key === undefined) {
    throw new TypeError("pass { idempotencyKey }: a text that is stable for the order, such as my-shop-1001");
  }
  if (typeof key !== "string" || !/^[!-~]([ -~]{0,253}[!-~])?$/.test(key)) {
    throw new TypeError("idempotencyKey must be 1 to 255 printable ASCII characters, stable for the order");
  }
}

function pathOf(id: string): string {
  if (!/^ord_\w{1,64}$/.test(id)) {
    throw new TypeError(
      "an order's id is ord_ and 26 characters, from the response that created it; by your reference, use list",
    );
  }
  return `/integration/orders/${id}`;
}
