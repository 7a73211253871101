#!/usr/bin/env node
/** The command line `waybill`. */
import { parseArgs } from "node:util";
import type { OrderFilters } from "../types.js";
import { VERSION } from "../version.js";
import {
  cancelOrder,
  correctDelivery,
  createOrder,
  followEvents,
  getOrder,
  issueDeliveryCode,
  listEvents,
  listOrders,
  printEvidence,
  printTimeline,
  reattemptOrder,
  returnOrder,
  simulateOrder,
  verify,
} from "./commands.js";
import { listen } from "./listen.js";
import { EXIT, explain, print, UsageError } from "./output.js";

const HELP = `waybill ${VERSION}: test orders, events and webhooks on your machine

  listen --forward-to URL   forward the events of test orders to your receiver, signed as webhooks; 3000 is the URL
                            http://localhost:3000. It continues where it stopped, or begins with new events
      --events KINDS        only these kinds, separated by commas
      --since TIME          replay from this time (RFC 3339)
      --json                print one JSON object per attempt
  listen --print-secret     print the secret that listen signs with
  events list|follow        print events as JSON lines [--events KINDS] [--since TIME]
  orders create             create an order --idempotency-key KEY [--file FILE]
  orders list               print orders as JSON lines, newest first [--reference REFERENCE] [--status STATUS]
  orders get ID             print an order
  orders timeline ID        print what happened to an order, as JSON lines
  orders cancel ID          cancel an order before its pickup [--reason TEXT]
  orders reattempt ID       ask for another attempt after a failed delivery [--date DATE] [--note TEXT]
  orders return ID          ask for the parcel after a failed delivery
  orders correct ID         correct the phone, the whole address (JSON), or both [--phone PHONE] [--file FILE]
  orders delivery-code ID   print a code that the customer tells the driver
  orders evidence ID        print an order and the records of its attempts as JSON
  orders simulate ID EVENT  move a test order; auto moves it to its end
  verify                    check a webhook's signature, and name the mistake --header 'Name: value' … [--body FILE]
      --header-prefix NAME  how the operator's headers begin; Service by default
      --tolerance SECONDS   how old the signature may be; 300 by default

Without FILE, create and verify read the standard input.
Environment: WAYBILL_BASE_URL (ends with /v1), WAYBILL_API_KEY, and for verify WAYBILL_WEBHOOK_SECRET (otherwise the
secret of listen). listen keeps its secret and its place in WAYBILL_STATE_DIRECTORY.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 the key was refused, 4 something else answers at
WAYBILL_BASE_URL, or its host is unknown.`;

const OPTIONS = {
  "forward-to": { type: "string" },
  events: { type: "string" },
  since: { type: "string" },
  "print-secret": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  "idempotency-key": { type: "string" },
  file: { type: "string" },
  header: { type: "string", multiple: true, default: [] as string[] },
  body: { type: "string" },
  reference: { type: "string" },
  status: { type: "string" },
  reason: { type: "string" },
  date: { type: "string" },
  note: { type: "string" },
  phone: { type: "string" },
  "header-prefix": { type: "string", default: "Service" },
  tolerance: { type: "string", default: "300" },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const;

/** Checked by the service. */
type Status = NonNullable<OrderFilters["status"]>;

interface Call {
  values: ReturnType<typeof parse>["values"];
  filters: { types: string[] | undefined; since: string | undefined };
  /** The words behind the command. */
  parameters: readonly string[];
  signal: AbortSignal;
}

interface Command {
  parametersMax: number;
  /** A number is the exit code. */
  run(call: Call): Promise<unknown>;
}

const COMMANDS: Record<string, Command> = {
  listen: {
    parametersMax: 0,
    run: ({ values, filters, signal }) => {
      const { json, "forward-to": forwardTo, "print-secret": printSecret } = values;
      return listen({ forwardTo, events: filters.types, since: filters.since, printSecret, json }, signal);
    },
  },
  "events list": { parametersMax: 0, run: ({ filters, signal }) => listEvents(filters, signal) },
  "events follow": { parametersMax: 0, run: ({ filters, signal }) => followEvents(filters, signal) },
  "orders create": {
    parametersMax: 0,
    run: ({ values }) => createOrder(values.file, values["idempotency-key"]),
  },
  "orders get": { parametersMax: 1, run: ({ parameters: [id] }) => getOrder(id) },
  "orders list": {
    parametersMax: 0,
    run: ({ values: { reference: orderReference, status }, signal }) =>
      listOrders(
        { ...(orderReference && { orderReference }), ...(status && { status: status as Status }) },
        signal,
      ),
  },
  "orders cancel": {
    parametersMax: 1,
    run: ({ values, parameters: [id] }) => cancelOrder(id, values.reason),
  },
  "orders reattempt": {
    parametersMax: 1,
    run: ({ values: { date, note }, parameters: [id] }) =>
      reattemptOrder(id, { ...(date !== undefined && { date }), ...(note !== undefined && { note }) }),
  },
  "orders return": { parametersMax: 1, run: ({ parameters: [id] }) => returnOrder(id) },
  "orders correct": {
    parametersMax: 1,
    run: ({ values, parameters: [id] }) => correctDelivery(id, values.phone, values.file),
  },
  "orders delivery-code": { parametersMax: 1, run: ({ parameters: [id] }) => issueDeliveryCode(id) },
  "orders evidence": { parametersMax: 1, run: ({ parameters: [id] }) => printEvidence(id) },
  "orders timeline": { parametersMax: 1, run: ({ parameters: [id], signal }) => printTimeline(id, signal) },
  "orders simulate": { parametersMax: 2, run: ({ parameters: [id, event] }) => simulateOrder(id, event) },
  verify: {
    parametersMax: 0,
    run: ({ values: { header: headers, body, "header-prefix": headerPrefix, tolerance } }) =>
      verify({ headers, body, headerPrefix, tolerance }),
  },
};

async function run(signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse();
  if (values.version) print(VERSION);
  if (values.help || values.version) {
    if (values.help) print(HELP);
    return EXIT.ok;
  }
  const isGroup = positionals[0] === "orders" || positionals[0] === "events";
  const words = positionals.slice(0, isGroup ? 2 : 1);
  const [name, parameters] = [words.join(" "), positionals.slice(words.length)];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError("There is no such command. waybill --help lists them.");
  const extra = parameters[command.parametersMax];
  if (extra !== undefined) throw new UsageError(`${name} does not take ${JSON.stringify(extra)}.`);
  const kinds = values.events?.split(",").map((kind) => kind.trim());
  const filters = { types: kinds?.filter((kind) => kind !== ""), since: values.since };
  const code = await command.run({ values, filters, parameters, signal });
  return typeof code === "number" ? code : EXIT.ok;
}

function parse() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of the pipe, such as `head`, has enough.
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  throw error;
});
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
if (process.env.npm_lifecycle_event === "npx") {
  // npx passes SIGTERM to its shell alone, so the shell's end is the sign to stop.
  const { ppid } = process;
  setInterval(() => process.ppid === ppid || stop.abort(), 500).unref();
}
process.exitCode = await run(stop.signal).catch((error) => {
  if (stop.signal.aborted) return EXIT.ok;
  return explain(error);
});
// Attempts that are under way end here; the next run repeats them.
if (stop.signal.aborted) process.exit();
