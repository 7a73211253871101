#!/usr/bin/env node
/** The command line `waybill`. */
import { parseArgs } from "node:util";
import { VERSION } from "../version.js";
import { createOrder, followEvents, getOrder, listEvents, simulateOrder, verify } from "./commands.js";
import { listen } from "./listen.js";
import { EXIT, explain, print, UsageError } from "./output.js";

const HELP = `waybill ${VERSION}: test orders, events and webhooks on your machine

  listen --forward-to URL   forward the events of test orders to your receiver, signed as webhooks
      --events KINDS        only these kinds, separated by commas
      --since TIME          replay from this time (RFC 3339)
      --json                print one JSON object per attempt
  listen --print-secret     print the secret that listen signs with
  events list|follow        print events as JSON lines [--events KINDS] [--since TIME]
  orders create             create an order --idempotency-key KEY [--file FILE]
  orders get ID             print an order
  orders simulate ID EVENT  move a test order; auto moves it to its end
  verify                    check a webhook's signature --header 'Name: value' … [--body FILE]
      --header-prefix NAME  how the operator's headers begin; Service by default
      --tolerance SECONDS   how old the signature may be; 300 by default

Without FILE the order and the body come from the standard input.
Environment: WAYBILL_BASE_URL (ends with /v1), WAYBILL_API_KEY, and for verify WAYBILL_WEBHOOK_SECRET (otherwise the
secret of listen). listen keeps its secret and its place in WAYBILL_STATE_DIRECTORY.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 the key was refused, 4 no API answers at WAYBILL_BASE_URL.`;

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
  "header-prefix": { type: "string", default: "Service" },
  tolerance: { type: "string", default: "300" },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const;

/** The number of words of each command. */
const WORDS: Record<string, number> = {
  listen: 1,
  "events list": 2,
  "events follow": 2,
  "orders create": 2,
  "orders get": 3,
  "orders simulate": 4,
  verify: 1,
};

async function run(signal: AbortSignal): Promise<number> {
  const { values, positionals } = parse();
  if (values.version) print(VERSION);
  if (values.help || values.version) {
    if (values.help) print(HELP);
    return EXIT.ok;
  }
  const [command, action, id, event] = positionals;
  const kinds = values.events?.split(",").map((kind) => kind.trim());
  const types = kinds?.filter((kind) => kind !== "");
  const filters = { types, since: values.since };
  const name = [command, command === "orders" || command === "events" ? action : undefined].join(" ").trim();
  const extra = positionals[WORDS[name] ?? positionals.length];
  if (extra !== undefined) throw new UsageError(`${name} does not take ${JSON.stringify(extra)}.`);
  switch (name) {
    case "listen": {
      const { since, json, "forward-to": forwardTo, "print-secret": printSecret } = values;
      await listen({ forwardTo, events: types, since, printSecret, json }, signal);
      return EXIT.ok;
    }
    case "events list":
      await listEvents(filters, signal);
      return EXIT.ok;
    case "events follow":
      await followEvents(filters, signal);
      return EXIT.ok;
    case "orders create":
      await createOrder(values.file, values["idempotency-key"]);
      return EXIT.ok;
    case "orders get":
      await getOrder(id);
      return EXIT.ok;
    case "orders simulate":
      await simulateOrder(id, event);
      return EXIT.ok;
    case "verify":
      return verify({
        headers: values.header,
        body: values.body,
        headerPrefix: values["header-prefix"],
        tolerance: values.tolerance,
      });
    default:
      throw new UsageError("There is no such command. waybill --help lists them.");
  }
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
if (process.env.npm_command) {
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
