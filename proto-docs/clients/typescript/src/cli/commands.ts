/** The short commands: events, orders, verify. */
import { NoAnswerError, ServerError, WebhookError } from "../errors.js";
import type { CursorStore, EventFilters } from "../events.js";
import type { NewDeliveryDetails, NewReattempt, OrderFilters, SimulatedEvent } from "../types.js";
import { constructEvent } from "../webhooks.js";
import { diagnose, type NamedSecret } from "./diagnosis.js";
import { Feed } from "./feed.js";
import {
  EXIT,
  explain,
  print,
  printError,
  printJson,
  readInput,
  readJson,
  UsageError,
  untilAnswered,
  waybill,
} from "./output.js";
import { listenSecret, stateDirectory } from "./state.js";

type NewDelivery = NonNullable<NewDeliveryDetails["delivery"]>;

export async function listEvents(filters: EventFilters, signal: AbortSignal): Promise<void> {
  const { events } = waybill();
  let page = await events.page(filters, { signal });
  for (;;) {
    page.bodies.forEach(print);
    if (!page.hasMore) return;
    page = await events.page({ types: filters.types, startingAfter: page.next }, { signal });
  }
}

/** Prints later events, or those since a time, until it is stopped. */
export async function followEvents({ types, since }: EventFilters, signal: AbortSignal): Promise<void> {
  const cursors: CursorStore = { load: async () => null, save: async () => {} };
  const feed = new Feed();
  const options = { ...feed.options, types, start: since ?? "now", signal };
  const { events } = waybill();
  await untilAnswered(async () => {
    for await (const event of events.follow(cursors, options)) print(feed.bodyOf(event));
  }, signal);
}

export async function createOrder(
  file: string | undefined,
  idempotencyKey: string | undefined,
): Promise<number> {
  if (!idempotencyKey) throw new UsageError("orders create needs --idempotency-key, stable for the order.");
  const body = (await readInput(file)).toString("utf8");
  try {
    printJson(await waybill().orders.create(body, { idempotencyKey }));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof NoAnswerError || error instanceof ServerError)) throw error;
    const code = explain(error);
    printError(
      "It is unknown whether the order was created. Repeat the command: the same key creates no second one.",
    );
    return code;
  }
}

export async function getOrder(id: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders get needs the order's id.");
  printJson(await waybill().orders.get(id));
}

/** Prints orders as JSON lines. */
export async function listOrders(filters: OrderFilters, signal: AbortSignal): Promise<void> {
  for await (const order of waybill().orders.list(filters, { signal })) printJson(order);
}

export async function cancelOrder(id: string | undefined, reason: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders cancel needs the order's id.");
  printJson(await waybill().orders.cancel(id, reason === undefined ? {} : { reason }));
}

export async function reattemptOrder(id: string | undefined, reattempt: NewReattempt): Promise<void> {
  if (!id) throw new UsageError("orders reattempt needs the order's id.");
  printJson(await waybill().orders.reattempt(id, reattempt));
}

export async function returnOrder(id: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders return needs the order's id.");
  printJson(await waybill().orders.requestReturn(id));
}

/** The file has the address. The service checks it. */
export async function correctDelivery(
  id: string | undefined,
  phone: string | undefined,
  file: string | undefined,
): Promise<void> {
  if (!id) throw new UsageError("orders correct needs the order's id.");
  if (phone === undefined && file === undefined) {
    throw new UsageError("orders correct needs --phone, --file with the address, or both.");
  }
  const details: NewDeliveryDetails = {};
  if (phone !== undefined) details.phone = phone;
  if (file !== undefined) details.delivery = (await readJson(file)) as NewDelivery;
  printJson(await waybill().orders.correctDelivery(id, details));
}

export async function issueDeliveryCode(id: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders delivery-code needs the order's id.");
  print(await waybill().orders.issueDeliveryCode(id));
}

export async function printEvidence(id: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders evidence needs the order's id.");
  printJson(await waybill().orders.evidence(id));
}

export async function printTimeline(id: string | undefined, signal: AbortSignal): Promise<void> {
  if (!id) throw new UsageError("orders timeline needs the order's id.");
  const onIncomplete = (services: readonly string[]) =>
    printError(`The entries of ${services.join(" and ")} are missing. Repeat the command later.`);
  for await (const entry of waybill().orders.timeline(id, {}, { signal, onIncomplete })) printJson(entry);
}

export async function simulateOrder(id: string | undefined, event: string | undefined): Promise<void> {
  if (!id || !event) throw new UsageError("orders simulate needs the order's id and an event, such as auto.");
  printJson(await waybill().orders.simulate(id, event as SimulatedEvent));
}

export interface VerifyArguments {
  headers: string[];
  body: string | undefined;
  headerPrefix: string;
  tolerance: string;
}

/** Tells whether a recorded webhook has a valid signature, and if not, why. */
export async function verify({ headers, body, headerPrefix, tolerance }: VerifyArguments): Promise<number> {
  if (!/^\d{1,9}$/.test(tolerance)) throw new UsageError("--tolerance must be a whole number of seconds.");
  const given = Object.fromEntries(headers.map(readHeader));
  const ofListen = () => ({ name: "the secret of listen", secret: listenSecret(stateDirectory()) });
  const { WAYBILL_WEBHOOK_SECRET } = process.env;
  const secret: NamedSecret = WAYBILL_WEBHOOK_SECRET
    ? { name: "WAYBILL_WEBHOOK_SECRET", secret: WAYBILL_WEBHOOK_SECRET }
    : ofListen();
  const options = { headerPrefix, toleranceSeconds: Number(tolerance) };
  const bytes = await readInput(body);
  try {
    const event = constructEvent(bytes, given, secret.secret, options);
    print(`valid: the signature of ${event.event} ${event.id} matches`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    printError(`invalid (${error.reason}): ${error.message}`);
    const other = WAYBILL_WEBHOOK_SECRET ? ofListen() : undefined;
    const secrets = { secret, other };
    for (const mistake of diagnose(error, bytes, given, secrets, options)) printError(`  ${mistake}`);
    return EXIT.failed;
  }
}

function readHeader(line: string): [string, string] {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
  if (!name) throw new UsageError("--header must be 'Name: value'.");
  return [name.trim(), value ?? ""];
}
