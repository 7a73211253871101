import type { APIResponse } from "playwright-core";
import { operator, placeOrder } from "./api";
import type { Visitor } from "./browser";
import { mailedLink } from "./mails";
import { stack } from "./stack";

export const PASSWORD = "a long enough secret";

/** A business of one test, with a logged-in owner. */
export interface Business {
  id: string;
  name: string;
  email: string;
}

let businesses = 0;

/** A unique name and e-mail address. */
export function someone(name: string) {
  businesses += 1;
  const word = name.toLowerCase().replace(/\W+/g, "-");
  return { name, email: `${word}-${Date.now()}-${businesses}@shop.example` };
}

/** Signs up by the API, for tests of other pages. The visitor is then logged in. */
export async function newBusiness(visitor: Visitor, name: string): Promise<Business> {
  const { email } = someone(name);
  const account = { businessName: name, email, password: PASSWORD };
  const { businessId } = await ask(visitor, "POST", "/accounts", account, 201);
  return { id: String(businessId), name, email };
}

/** Confirms the e-mail address of the visitor's account with the mailed link. */
export async function confirmEmail(visitor: Visitor, email: string): Promise<void> {
  const token = (await mailedLink(email, "confirm-email")).split("#token=")[1];
  await ask(visitor, "POST", "/email-confirmations/confirm", { token }, 200);
}

export async function newTestKey(visitor: Visitor, name = "shop backend"): Promise<string> {
  return String((await ask(visitor, "POST", "/api-keys", { mode: "test", name }, 201)).key);
}

export const PICKUP_PROFILE = {
  businessName: "Spice Route",
  contactName: "Meera Iyer",
  phone: "+919800000002",
  addressLine1: "4 Church Street",
  city: "Bengaluru",
  state: "Karnataka",
  pincode: "560001",
};

/** Completes the go-live list, and creates a Live key. */
export async function openLive(visitor: Visitor, business: Business, amountPaise = 50_000): Promise<string> {
  await placeOrder(await newTestKey(visitor), `first-of-${business.id}`);
  await ask(visitor, "PUT", "/pickup-profile", PICKUP_PROFILE, 200);
  await ask(visitor, "PUT", "/subscription", { plan: "growth" }, 200);
  await operator("PATCH", `/businesses/${business.id}`, {
    status: "active",
    subscription: "active",
    liveAccess: "active",
  });
  await ask(visitor, "POST", "/wallet/top-ups", { amountPaise }, 201);
  return String((await ask(visitor, "POST", "/api-keys", { mode: "live", name: "shop" }, 201)).key);
}

/** Calls the portal's API with the visitor's session, like the visitor's pages. */
export async function ask(
  visitor: Visitor,
  method: string,
  path: string,
  data: unknown,
  expected: number,
): Promise<Record<string, unknown>> {
  const response: APIResponse = await visitor.context.request.fetch(`${stack.portal}/v1/portal${path}`, {
    method,
    ...(data === undefined ? {} : { data }),
    headers: { origin: stack.portal },
  });
  const text = await response.text();
  if (response.status() !== expected) throw new Error(`${method} ${path}: ${response.status()} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}
