/** The stack under test, and a proxy in front of it that fails as networks do. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Environment, type NewOrder, type Order, Waybill } from "@waybill/client";

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}: run the tests with target/debug/with-business -- npm test`);
  return value;
}

export const BASE_URL = `${variable("ORDER_API")}/v1`;
export const TEST_KEY = variable("TEST_KEY");
export const LIVE_KEY = variable("LIVE_KEY");

const RUN = `${Date.now().toString(36)}-${process.pid}`;
let references = 0;

/** A reference that no other test uses. */
export function newReference(): string {
  references += 1;
  return `sdk-${RUN}-${references}`;
}

export function newOrder(orderReference: string, changes: Partial<NewOrder> = {}): NewOrder {
  return {
    orderReference,
    customer: { name: "Asha Rao", phone: "+919800000001" },
    delivery: { addressLine1: "12th Main Road", city: "Bengaluru", state: "Karnataka", pincode: "560038" },
    payment: { paymentType: "prepaid", deliveryFeePaise: 4900 },
    ...changes,
  };
}

/** Of a business of its own: other tests place no orders there, and at most two calls of a key may wait for events. */
export async function newTestKey(): Promise<string> {
  const portal = variable("PORTAL");
  const post = async (path: string, body: object, cookie = "") => {
    const headers = { "content-type": "application/json", origin: portal, cookie };
    const response = await fetch(`${portal}/v1/portal${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const email = `${randomUUID()}@shop.example`;
  const account = { businessName: "Malabar Coffee", email, password: "a long enough secret" };
  const [cookie] = (await post("/accounts", account)).headers.getSetCookie();
  const created = await post("/api-keys", { mode: "test", name: "tests" }, cookie?.split(";")[0]);
  return ((await created.json()) as { key: string }).key;
}

/**
 * What the proxy does with one request: `cut-before` closes the connection before the service sees the request,
 * `cut-after` when the service has answered, `hang` never answers after the service has, a number is a status without
 * asking the service.
 */
export type Fault = "cut-before" | "cut-after" | "hang" | number;

export class FaultyProxy {
  readonly #server: Server;
  faults: Fault[] = [];
  retryAfter = "0";
  said = "from the proxy";
  seen: { body: string; key: string | undefined }[] = [];

  private constructor() {
    this.#server = createServer((incoming, outgoing) => {
      this.#handle(incoming, outgoing).catch((error) => outgoing.destroy(error));
    });
  }

  static async start(): Promise<FaultyProxy> {
    const proxy = new FaultyProxy();
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await bytesOf(incoming);
    this.seen.push({ body: body.toString(), key: incoming.headers["idempotency-key"] as string | undefined });
    const fault = this.faults.shift();
    if (fault === "cut-before") return void outgoing.destroy();
    if (typeof fault === "number") {
      outgoing
        .writeHead(fault, { "retry-after": this.retryAfter, "content-type": "text/plain" })
        .end(this.said);
      return;
    }
    const { status, headers, answer } = await forward(incoming, body);
    if (fault === "cut-after") return void outgoing.destroy();
    if (fault !== "hang") outgoing.writeHead(status, headers).end(answer);
  }
}

async function forward(incoming: IncomingMessage, body: Buffer) {
  const target = new URL(incoming.url ?? "/", BASE_URL);
  const { method, headers } = incoming;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(target, { method, headers }, resolve).on("error", reject).end(body);
  });
  return { status: response.statusCode ?? 0, headers: response.headers, answer: await bytesOf(response) };
}

export async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The pause after an attempt is longer than the time for the call. */
export const ONE_ATTEMPT: Partial<Environment> = { jitter: () => 1_000 };

export function client(apiKey: string, changes: Partial<ConstructorParameters<typeof Waybill>[0]> = {}) {
  return new Waybill({ apiKey, baseUrl: BASE_URL, ...changes });
}

/** All orders with the reference, and how often the wallet paid for each. */
export async function ordersAndDebits(waybill: Waybill, orderReference: string) {
  const orders: Order[] = [];
  let debits = 0;
  for await (const order of waybill.orders.list({ orderReference })) {
    orders.push(order);
    for await (const entry of waybill.orders.timeline(order.id)) {
      if (entry.type === "money" && entry.kind === "delivery_fee") debits += 1;
    }
  }
  return { orders, debits };
}

/** Waits for a condition, for a minute, because another program may be busy. */
export async function eventually<T>(read: () => T | undefined | Promise<T | undefined>, what: string) {
  const endsAt = Date.now() + 60_000;
  while (Date.now() < endsAt) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what} did not happen within a minute`);
}
