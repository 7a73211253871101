/** What the commands read and print, and the codes they end with. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Waybill } from "../client.js";
import { ApiError, NoAnswerError, WaybillError } from "../errors.js";
import type { ExchangeResult } from "../transport.js";

const INPUT_MAX_BYTES = 1024 * 1024;
const FIRST_CALLS_MAX = 3;
const FIRST_CALL_PAUSE_MS = 1_000;

export const EXIT = { ok: 0, failed: 1, usage: 2, keyRefused: 3, wrongUrl: 4 } as const;

/** A wrong command line. */
export class UsageError extends Error {}

/** The key is no key, or of the wrong mode. */
export class KeyError extends Error {}

/** Another program than the API answers at the base URL, or none. */
export class UrlError extends Error {}

/** What went wrong on this machine. */
export class LocalError extends Error {}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Explains an error and returns the exit code. */
export function explain(error: unknown): number {
  if (!(error instanceof Error)) throw error;
  const isOurs = [WaybillError, UsageError, KeyError, UrlError, LocalError, TypeError].some(
    (kind) => error instanceof kind,
  );
  // The system's errors explain themselves; any other one is a defect.
  if (!isOurs && !("syscall" in error)) throw error;
  if (!(error instanceof ApiError)) {
    printError(error.message);
    if (error instanceof KeyError) return EXIT.keyRefused;
    if (error instanceof UrlError) return EXIT.wrongUrl;
    return error instanceof UsageError || error instanceof TypeError ? EXIT.usage : EXIT.failed;
  }
  printError(`${error.message} (${error.code}, request ${error.requestId ?? "unknown"})`);
  for (const { field, message } of error.errors) {
    // The message of a request with one wrong field is that of the field.
    if (message !== error.message) printError(`  ${field || "body"}: ${message}`);
  }
  if (error.missing.length > 0) printError(`  missing: ${error.missing.join(", ")}`);
  if (error.legal.length > 0) printError(`  possible now: ${error.legal.join(", ")}`);
  return error.status === 401 ? EXIT.keyRefused : EXIT.failed;
}

/** The key comes from the environment, never from arguments, which other users of a machine can see. */
export function waybill(): Waybill {
  const key = process.env.WAYBILL_API_KEY;
  if (key && !/^sk_(test|live)_/.test(key)) {
    throw new KeyError("WAYBILL_API_KEY must be an API key, sk_test_… or sk_live_….");
  }
  let hasAnswered = false;
  let hasTold = false;
  const onResponse = ({ error, status, method, attempt }: ExchangeResult) => {
    // After an earlier attempt, or an answer that cannot be read, the order of a POST may exist.
    const mayBeDone = method === "POST" && (attempt > 1 || error?.code === "unusable_answer");
    // After an answer it is an outage, such as a captive portal or a network without names.
    if (!hasAnswered && !mayBeDone && error && isOfAnotherUrl(error)) {
      throw new UrlError(`${error.message} Check WAYBILL_BASE_URL.`);
    }
    if (error instanceof ApiError && error.status === 429) {
      printError(
        `${error.message} Trying again in ${Math.ceil((error.retryAfterMs ?? 0) / 1_000) || 1} s or more.`,
      );
    }
    if (error instanceof NoAnswerError && status === undefined && !hasAnswered && !hasTold) {
      hasTold = true;
      printError(`${error.message} Trying again.`);
    }
    // A proxy answers 5xx while the API starts.
    hasAnswered ||= status !== undefined && status < 500;
  };
  return new Waybill({ appInfo: "command-line", onResponse });
}

/** The host has no address, or what answers is not the API. */
function isOfAnotherUrl(error: WaybillError): boolean {
  if (error instanceof NoAnswerError) return error.code === "unusable_answer" || error.kind === "ENOTFOUND";
  if (!(error instanceof ApiError) || error.code !== `http_${error.status}`) return false;
  return error.status < 400 || error.status === 404 || error.status === 405;
}

/** Runs a reader again whose first call found no API: a proxy that starts before the API answers so too. */
export async function untilAnswered(run: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let call = 1; call < FIRST_CALLS_MAX; call += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
      await sleep(FIRST_CALL_PAUSE_MS, undefined, { signal });
    }
  }
  return run();
}

/** A file, or the standard input. */
export async function readInput(file: string | undefined): Promise<Buffer> {
  const input =
    file === undefined ? await bytesOf(process.stdin) : await readFile(file).catch(() => undefined);
  if (!input) throw new LocalError(`The file ${file} cannot be read.`);
  if (input.length > INPUT_MAX_BYTES) throw new LocalError("The input is larger than 1 MiB.");
  return input;
}

export async function readJson(file: string): Promise<unknown> {
  const text = (await readInput(file)).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The file ${file} contains no JSON.`);
  }
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > INPUT_MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}
