import { stack } from "./stack";

interface Answer {
  id: string;
  trackingCode: string;
  status: string;
  /** Of a reset link. */
  url: string;
}

async function call(url: string, options: RequestInit, expected: number): Promise<Answer> {
  const response = await fetch(url, options);
  const text = await response.text();
  if (response.status !== expected) throw new Error(`${url}: ${response.status} ${text}`);
  return JSON.parse(text || "{}");
}

const json = (body: unknown) => ({ "content-type": "application/json", body: JSON.stringify(body) });

/** Places an order like a business's backend. The portal cannot do this. */
export async function placeOrder(key: string, reference: string, change: object = {}, expected = 201) {
  const order = {
    orderReference: reference,
    orderSource: "business_website",
    customer: { name: "Asha Rao", phone: "+919800000001", email: null },
    delivery: {
      addressLine1: "12 MG Road",
      city: "Bengaluru",
      state: "Karnataka",
      pincode: "560001",
    },
    payment: { paymentType: "prepaid", orderValuePaise: 150_000, deliveryFeePaise: 4_900, currency: "INR" },
    ...change,
  };
  const { body, ...headers } = json(order);
  return call(
    `${stack.orderApi}/v1/integration/orders`,
    {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${key}`, "idempotency-key": `shop-${reference}` },
      body,
    },
    expected,
  );
}

/** Reports an event of a live order, like the fleet. */
export async function report(order: string, event: string, more: object = {}) {
  const { body, ...headers } = json({
    eventId: `${order}-${event}`,
    event,
    occurredAt: new Date().toISOString(),
    ...more,
  });
  return call(
    `${stack.orderApi}/v1/fleet/orders/${order}/events`,
    { method: "POST", headers: { ...headers, authorization: `Bearer ${stack.fleetToken}` }, body },
    200,
  );
}

/** Calls the operator API, for tests of other pages than the operator's. */
export async function operator(method: string, path: string, given?: unknown, expected = 200) {
  const { body, ...headers } = json(given);
  return call(
    `${stack.portal}/v1/operator${path}`,
    {
      method,
      headers: { ...headers, authorization: `Bearer ${stack.operatorToken}` },
      body,
    },
    expected,
  );
}
