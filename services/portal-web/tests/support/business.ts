import { type APIRequestContext, expect } from "@playwright/test";
import { operator, placeOrder } from "./api";
import { mailedLink } from "./mails";
import { stack } from "./stack";

export const PASSWORD = "a long enough secret";

/** Calls with a session of its own: a page, or Playwright's fixtures without a page. */
export interface Caller {
  request: APIRequestContext;
}

/** Cookies and storage that a window can begin with. */
export type Session = Awaited<ReturnType<APIRequestContext["storageState"]>>;

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
export async function newBusiness(caller: Caller, name: string): Promise<Business> {
  const { email } = someone(name);
  const account = { businessName: name, email, password: PASSWORD };
  const { businessId } = await ask(caller, "POST", "/accounts", account, 201);
  return { id: String(businessId), name, email };
}

/** Logs in without the form. */
export async function logInByApi(caller: Caller, email: string, password = PASSWORD): Promise<void> {
  await ask(caller, "POST", "/session", { email, password }, 200);
}

/** A business whose owner has confirmed their e-mail address, and may set up a second factor. */
export async function newConfirmed(owner: Caller, name: string): Promise<Business> {
  const business = await newBusiness(owner, name);
  await confirmEmail(owner, business.email);
  return business;
}

/** A business whose owner may invite. */
export async function newTeam(owner: Caller, name: string): Promise<Business> {
  const business = await newConfirmed(owner, name);
  await operator("PATCH", `/businesses/${business.id}`, { status: "active" });
  return business;
}

/** Invites someone. Returns the address and the mailed link. */
export async function invite(owner: Caller, role: string): Promise<{ email: string; link: string }> {
  const { email } = someone(role);
  await ask(owner, "POST", "/invitations", { email, role }, 201);
  return { email, link: await mailedLink(email, "invitation") };
}

/** Lets the visitor join the owner's business. Returns the visitor's address. */
export async function joinTeam(caller: Caller, owner: Caller, role: string): Promise<string> {
  const { email, link } = await invite(owner, role);
  const account = { token: tokenOf(link), password: PASSWORD };
  await ask(caller, "POST", "/invitations/accept", account, 201);
  return email;
}

function tokenOf(link: string): string | undefined {
  return link.split("#token=")[1];
}

/** Confirms the e-mail address of the visitor's account with the mailed link. */
export async function confirmEmail(caller: Caller, email: string): Promise<void> {
  const token = tokenOf(await mailedLink(email, "confirm-email"));
  await ask(caller, "POST", "/email-confirmations/confirm", { token }, 200);
}

export async function newTestKey(caller: Caller, name = "shop backend"): Promise<string> {
  return String((await ask(caller, "POST", "/api-keys", { mode: "test", name }, 201)).key);
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
export async function openLive(caller: Caller, business: Business, amountPaise = 50_000): Promise<string> {
  await placeOrder(await newTestKey(caller), `first-of-${business.id}`);
  await ask(caller, "PUT", "/pickup-profile", PICKUP_PROFILE, 200);
  await ask(caller, "PUT", "/subscription", { plan: "growth" }, 200);
  await operator("PATCH", `/businesses/${business.id}`, {
    status: "active",
    subscription: "active",
    liveAccess: "active",
  });
  await ask(caller, "POST", "/wallet/top-ups", { amountPaise }, 201);
  return String((await ask(caller, "POST", "/api-keys", { mode: "live", name: "shop" }, 201)).key);
}

/** Waits until the log of an endpoint has the webhook of an order. Returns the webhook's id. */
export async function listedWebhook(
  caller: Caller,
  endpointId: unknown,
  orderReference: string,
): Promise<string> {
  let id: string | undefined;
  await expect(async () => {
    const { data } = await ask(caller, "GET", `/webhook-endpoints/${endpointId}/deliveries`, undefined, 200);
    const deliveries = data as { id: string; orderReference: string }[];
    id = deliveries.find((one) => one.orderReference === orderReference)?.id;
    expect(id, `the webhook of ${orderReference}`).toBeDefined();
  }).toPass();
  return String(id);
}

/** Logs in to the console without the form: with the installation token, or as a person. */
export async function logInAsOperator(caller: Caller, email?: string): Promise<void> {
  const account = email ? { email, password: PASSWORD } : { token: stack.operatorToken };
  await send(caller, "POST", "/v1/operator/session", account, 200);
}

/** Lets the visitor log in to the console as a new person. */
export async function joinStaff(
  caller: Caller,
  name: string,
  role = "administrator",
): Promise<{ id: string; email: string }> {
  const { email } = someone("console");
  const { id, url } = await operator("POST", "/staff", { email, name, role }, 201);
  const account = { token: tokenOf(url), password: PASSWORD };
  await send(caller, "POST", "/v1/operator/password-links/use", account, 204);
  await logInAsOperator(caller, email);
  return { id, email };
}

/** Calls the portal's API with the visitor's session, like the visitor's pages. */
export function ask(caller: Caller, method: string, path: string, data: unknown, expected: number) {
  return send(caller, method, `/v1/portal${path}`, data, expected);
}

/** As `ask`, with the whole path. */
export async function send(
  { request }: Caller,
  method: string,
  path: string,
  data: unknown,
  expected: number,
): Promise<Record<string, unknown>> {
  const response = await request.fetch(path, { method, data });
  const text = await response.text();
  if (response.status() !== expected) throw new Error(`${method} ${path}: ${response.status()} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}
