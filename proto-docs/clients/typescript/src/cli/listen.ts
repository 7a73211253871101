/** `listen`: forwards the events of test orders to a receiver on this machine. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Waybill } from "../client.js";
import type { WebhookEvent } from "../types.js";
import { Feed } from "./feed.js";
import { type Attempt, Forwarder } from "./forwarder.js";
import { KeyError, print, printJson, UsageError, untilAnswered, waybill } from "./output.js";
import { listenSecret, Progress, stateDirectory } from "./state.js";

/** Unfinished events at a time. */
const UNFINISHED_MAX = 50;

export interface ListenArguments {
  forwardTo: string | undefined;
  events: string[] | undefined;
  since: string | undefined;
  printSecret: boolean;
  json: boolean;
}

export async function listen(given: ListenArguments, signal: AbortSignal): Promise<void> {
  const directory = stateDirectory();
  const secret = listenSecret(directory);
  if (given.printSecret) return print(secret);
  const url = readUrl(given.forwardTo);
  const client = waybill();
  if (client.mode === "live") {
    throw new KeyError("listen needs a Test key: a Live key would bring customers' data to this machine.");
  }
  const { WAYBILL_BASE_URL = "", WAYBILL_API_KEY = "" } = process.env;
  const kinds = (given.events ?? []).join();
  const progress = new Progress(directory, WAYBILL_BASE_URL, WAYBILL_API_KEY, url, kinds);
  await progress.lock();
  if (given.since) progress.forget();
  const onAttempt = given.json ? printAttemptAsJson : printAttempt;
  const pause = (ms: number) => sleep(ms, undefined, { signal });
  const onFailed = (event: WebhookEvent, attempt: number) => progress.failed(event.id, attempt);
  const forwarder = new Forwarder({ url, secret, onAttempt, onFailed, sleep: pause, jitter: Math.random });
  await untilAnswered(() => forwardAll(client, forwarder, progress, given, url, signal), signal);
}

async function forwardAll(
  client: Waybill,
  forwarder: Forwarder,
  progress: Progress,
  given: ListenArguments,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  let isReady = false;
  const startsAfter = progress.cursor;
  const feed = new Feed(() => {
    forwarder.headerPrefix = feed.headerPrefix;
    if (!isReady) printReady(given, url, startsAfter, progress);
    isReady = true;
  });
  const options = { ...feed.options, types: given.events, start: given.since ?? "now", signal };
  // Fails with the first delivery that fails for a reason of ours, such as a full disk.
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const reading = async () => {
    for await (const event of client.events.follow(progress, options)) {
      await progress.begin(event.id, UNFINISHED_MAX);
      const outcome = progress.isDone(event.id)
        ? Promise.resolve()
        : forwarder.forward(event, feed.bodyOf(event), progress.attemptsOf(event.id));
      outcome.then(() => progress.settle(event.id), fail);
    }
  };
  await Promise.race([reading(), failed]);
}

function printReady(
  { json, since }: ListenArguments,
  forwardTo: string,
  startsAfter: string | null,
  { savedAt, file }: Progress,
): void {
  if (json) {
    printJson({ type: "ready", forwardTo, startsAfter });
    return;
  }
  print(`Ready: test events are forwarded to ${forwardTo}. Their secret: listen --print-secret`);
  if (since) print(`It replays the events since ${since}.`);
  else if (startsAfter === null) print("It begins with new events. --since TIME replays earlier ones.");
  else {
    const stopped = savedAt?.toISOString();
    print(`It continues where it stopped, at ${stopped}. --since TIME begins elsewhere (${file}).`);
  }
}

function printAttempt({ event, attempt, status, durationMs, failure, retryInMs }: Attempt): void {
  const time = new Date().toTimeString().slice(0, 8);
  const name = `${event.event} ${event.order?.orderReference ?? "-"} #${event.sequence ?? "-"}`;
  const again = retryInMs === null ? "given up" : `again in ${Math.round(retryInMs / 1_000)} s`;
  const end = failure === null ? "" : `: ${failure}; ${again}`;
  print(`${time} ${name} attempt ${attempt}: ${status ?? "no answer"} in ${durationMs} ms${end}`);
}

function printAttemptAsJson({ event, ...attempt }: Attempt): void {
  const { id: eventId, event: kind, sequence, order } = event;
  const orderReference = order?.orderReference ?? null;
  const at = new Date().toISOString();
  printJson({ type: "attempt", at, eventId, event: kind, sequence, orderReference, ...attempt });
}

function readUrl(text = ""): string {
  // 3000, or localhost:3000/webhook
  const meant = /^\d{1,5}$/.test(text)
    ? `http://localhost:${text}`
    : text.replace(/^localhost\b/, "http://$&");
  const url = URL.canParse(meant) ? new URL(meant) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError("--forward-to must be the http or https URL of your receiver, or its port.");
  }
  return url.href;
}
