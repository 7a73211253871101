/** The short commands: events, orders, verify. */
import { readFile } from "node:fs/promises";
import { WebhookError } from "../errors.js";
import type { CursorStore, EventFilters } from "../events.js";
import type { SimulatedEvent } from "../types.js";
import { constructEvent } from "../webhooks.js";
import { EXIT, print, printError, printJson, UsageError } from "./output.js";
import { waybill, webhookSecret } from "./settings.js";
import { listenSecret, stateDirectory } from "./state.js";

export async function listEvents(filters: EventFilters, signal: AbortSignal): Promise<void> {
  for await (const event of waybill().events.list(filters, { signal })) printJson(event);
}

/** Prints later events, or those since a time, until it is stopped. */
export async function followEvents({ types, since }: EventFilters, signal: AbortSignal): Promise<void> {
  const cursors: CursorStore = { load: async () => null, save: async () => {} };
  const onRetry = (error: Error) => printError(`The feed is unavailable: ${error.message} Trying again.`);
  const start = since ? { since } : "now";
  try {
    for await (const event of waybill().events.follow(cursors, { types, start, signal, onRetry }))
      printJson(event);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export async function createOrder(
  file: string | undefined,
  idempotencyKey: string | undefined,
): Promise<void> {
  if (!idempotencyKey) throw new UsageError("orders create needs --idempotency-key, stable for the order.");
  const body = (await readInput(file)).toString("utf8");
  printJson(await waybill().orders.create(body, { idempotencyKey }));
}

export async function getOrder(id: string | undefined): Promise<void> {
  if (!id) throw new UsageError("orders get needs the order's id.");
  printJson(await waybill().orders.get(id));
}

export async function simulateOrder(id: string | undefined, event: string | undefined): Promise<void> {
  if (!id || !event) throw new UsageError("orders simulate needs the order's id and an event, such as auto.");
  printJson(await waybill().orders.simulate(id, event as SimulatedEvent));
}

export interface VerifyArguments {
  headers: string[];
  body: string | undefined;
  prefix: string | undefined;
  tolerance: string | undefined;
}

/** Tells whether a recorded webhook has a valid signature, and if not, why. */
export async function verify(given: VerifyArguments): Promise<number> {
  const headers = Object.fromEntries(
    given.headers.map((line) => {
      const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
      if (!name) throw new UsageError(`--header must be 'Name: value'.`);
      return [name, value];
    }),
  );
  const toleranceSeconds = Number(given.tolerance ?? 300);
  if (!(toleranceSeconds >= 0)) throw new UsageError("--tolerance must be a number of seconds.");
  const secret = webhookSecret() ?? listenSecret(stateDirectory());
  const options = { toleranceSeconds, ...(given.prefix && { headerPrefix: given.prefix }) };
  try {
    const event = constructEvent(await readInput(given.body), headers, secret, options);
    print(`valid: ${event.event} ${event.id}`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    printError(`invalid (${error.reason}): ${error.message}`);
    return EXIT.failed;
  }
}

/** A file, or the standard input. */
async function readInput(file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== "-") {
    return readFile(file).catch(() => {
      throw new UsageError(`The file ${file} cannot be read.`);
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}
