/** Sends a call, repeats it where that is safe, and turns answers into values or errors. */
import { ApiError, errorOf, hasAll, NoAnswerError, type WaybillError } from "./errors.js";
import { redact, redactAll } from "./redact.js";
import { ATTEMPTS_MAX, hadNoEffect, isTransient, pauseMs, readRetryAfter } from "./retry.js";
import type { ErrorBody, Mode } from "./types.js";
import { VERSION } from "./version.js";

/** A page of 100 orders of the largest size stays below it. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
const TIME_MAX_MS = 24 * 60 * 60 * 1_000;

/** What a hook sees. Keys are redacted; bodies are left out, because they contain personal data. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Counts from 1. */
  readonly attempt: number;
}

export interface ExchangeResult extends Exchange {
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly error: WaybillError | undefined;
}

export interface ClientOptions {
  /** `sk_test_…` or `sk_live_…`; it decides the mode. The default is the environment's `WAYBILL_API_KEY`. */
  apiKey?: string | undefined;
  /** Ends with `/v1`. The default is the environment's `WAYBILL_BASE_URL`. */
  baseUrl?: string | undefined;
  /** The longest time for one attempt. The default is 15 s; the service may take 5 s to answer a repeated key. */
  attemptTimeoutMs?: number;
  /** The longest time for a call with all its repetitions. The default is 60 s. */
  deadlineMs?: number;
  /** Added to the user agent, such as `my-shop/2.1`. */
  appInfo?: string;
  /** An error that a hook throws ends the call. */
  onRequest?: (exchange: Exchange) => void;
  onResponse?: (result: ExchangeResult) => void;
  /** For tests. */
  environment?: Partial<Environment>;
}

/** The clocks, the waiting and the randomness of the client. */
export interface Environment {
  /** Since 1970. */
  nowMs(): number;
  /** Of a clock that nobody sets. */
  monotonicMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to 1. */
  jitter(): number;
}

export const REAL: Environment = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    }),
  jitter: () => Math.random(),
};

export interface Call {
  method: "GET" | "POST";
  path: string;
  query?: Readonly<Record<string, string | number | undefined>> | undefined;
  body?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Whether repeating the call has the same effect as sending it once. */
  repeatable: boolean;
  /** Fields that a usable answer contains. */
  expects: readonly string[];
  /** The answer may take so much longer than others, because the call waits for events. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Answer<Body> {
  body: Body;
  /** The body as it was sent. */
  text: string;
  headers: Headers;
}

export class Transport {
  readonly mode: Mode;
  readonly deadlineMs: number;
  readonly environment: Environment;
  // Private fields are invisible to `util.inspect` and `JSON.stringify`.
  readonly #authorization: string;
  readonly #baseUrl: string;
  readonly #attemptTimeoutMs: number;
  readonly #userAgent: string;
  readonly #onRequest: ClientOptions["onRequest"];
  readonly #onResponse: ClientOptions["onResponse"];

  constructor(options: ClientOptions) {
    const { apiKey = process.env.WAYBILL_API_KEY ?? "", baseUrl = process.env.WAYBILL_BASE_URL ?? "" } =
      options;
    this.mode = modeOf(apiKey);
    this.#authorization = `Bearer ${apiKey}`;
    this.#baseUrl = readBaseUrl(baseUrl, this.mode);
    this.#attemptTimeoutMs = timeOf("attemptTimeoutMs", options.attemptTimeoutMs ?? 15_000);
    this.deadlineMs = timeOf("deadlineMs", options.deadlineMs ?? 60_000);
    this.environment = { ...REAL, ...options.environment };
    const app = options.appInfo ? ` ${options.appInfo}` : "";
    this.#userAgent = `waybill-typescript/${VERSION} node/${process.versions.node}${app}`;
    this.#onRequest = options.onRequest;
    this.#onResponse = options.onResponse;
  }

  /** Every attempt sends the same bytes and the same key. */
  async send<Body>(call: Call): Promise<Answer<Body>> {
    const { monotonicMs, sleep, jitter } = this.environment;
    const endsAt = monotonicMs() + this.deadlineMs + (call.waitMs ?? 0);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt<Body>(call, attempt, endsAt - monotonicMs());
      } catch (error) {
        const again = call.repeatable ? isTransient(error) : hadNoEffect(error);
        if (!again || attempt >= ATTEMPTS_MAX) throw error;
        const pause = pauseMs(attempt, error, jitter());
        if (monotonicMs() + pause >= endsAt) throw error;
        await sleep(pause, call.signal);
      }
    }
  }

  async #attempt<Body>(call: Call, attempt: number, leftMs: number): Promise<Answer<Body>> {
    const url = this.#baseUrl + call.path + queryOf(call.query);
    const headers = this.#headers(call);
    const shown = {
      method: call.method,
      url: redact(url),
      headers: { ...headers, authorization: redact(this.#authorization) },
      attempt,
    };
    this.#onRequest?.(shown);
    const startedAt = this.environment.monotonicMs();
    let response: Response | undefined;
    let error: WaybillError | undefined;
    try {
      const timeoutMs = Math.max(1, Math.min(leftMs, this.#attemptTimeoutMs + (call.waitMs ?? 0)));
      const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
      const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
      const { method, body } = call;
      // A redirect would send the order and the key to another server.
      response = await fetch(url, { method, headers, body: body ?? null, signal, redirect: "manual" });
      return await this.#read<Body>(response, call);
    } catch (cause) {
      call.signal?.throwIfAborted();
      error = cause instanceof ApiError ? cause : noAnswer(cause, this.#nameOf(call), response?.status);
      throw error;
    } finally {
      const durationMs = Math.round(this.environment.monotonicMs() - startedAt);
      const requestId = response?.headers.get("request-id") ?? undefined;
      this.#onResponse?.({ ...shown, durationMs, status: response?.status, requestId, error });
    }
  }

  /** For messages: without the query, which may contain a customer's reference. */
  #nameOf({ method, path }: Call): string {
    return `${method} ${this.#baseUrl}${path}`;
  }

  #headers(call: Call): Record<string, string> {
    const headers: Record<string, string> = {
      authorization: this.#authorization,
      accept: "application/json",
      "user-agent": this.#userAgent,
    };
    if (call.body !== undefined) headers["content-type"] = "application/json";
    if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
    return headers;
  }

  async #read<Body>(response: Response, call: Call): Promise<Answer<Body>> {
    const text = (await readBytes(response, ANSWER_MAX_BYTES)).toString("utf8");
    const { status, headers } = response;
    if (response.ok) {
      const body = parseObject(text);
      if (!hasAll(body, call.expects)) throw unusable();
      return { body: body as Body, text, headers };
    }
    const retryAfter = readRetryAfter(headers.get("retry-after"), this.environment.nowMs());
    const message = `The service answered ${status} (${this.#nameOf(call)}).`;
    let body: Partial<ErrorBody> = { message };
    try {
      const answer: Partial<ErrorBody> = parseObject(text);
      // A key that is echoed is redacted. The order's values are stored and compared, so they stay as they are.
      body = { message, ...redactAll(answer), ...(answer.order && { order: answer.order }) };
    } catch {
      // A proxy in front of the service answered: the status says enough.
    }
    throw errorOf(status, body, headers.get("request-id") ?? undefined, retryAfter);
  }
}

/** The whole body of an answer, unless it is larger. */
export async function readBytes(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > bytesMax) throw unusable();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unusable();
  return value;
}

export function unusable(): NoAnswerError {
  return new NoAnswerError("unusable_answer", "The service's answer cannot be read.");
}

/** Leaves out the error's own text, because it contains addresses. */
function noAnswer(cause: unknown, name: string, status: number | undefined): NoAnswerError {
  if (cause instanceof NoAnswerError) {
    return new NoAnswerError(cause.code, `The service's answer cannot be read (${name}, status ${status}).`);
  }
  if (cause instanceof Error && cause.name === "TimeoutError") {
    return new NoAnswerError("timeout", `The service did not answer in time (${name}).`);
  }
  const kind = systemCodeOf(cause);
  const details = kind ? `${name}, ${kind}` : name;
  const message = `The service is unreachable, or closed the connection (${details}).`;
  return new NoAnswerError("unreachable", message, kind);
}

/** Why `fetch` failed. */
export function systemCodeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

function queryOf(query: Call["query"]): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? "" : `?${given}`;
}

function modeOf(apiKey: string): Mode {
  if (apiKey === "") throw new TypeError("set WAYBILL_API_KEY to your API key, or pass apiKey");
  const mode = /^sk_(test|live)_[\w-]{8,200}$/.exec(apiKey)?.[1];
  if (mode) return mode as Mode;
  // The text is not quoted: it may be a key with a typing error.
  throw new TypeError(
    "apiKey (or WAYBILL_API_KEY) must be an API key, sk_test_… or sk_live_…, without white space",
  );
}

/** As `URL` writes host names. */
const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost\.?)$/;

function readBaseUrl(text: string, mode: Mode): string {
  if (text === "") {
    throw new TypeError("set WAYBILL_BASE_URL to the API's base URL, which ends with /v1, or pass baseUrl");
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && !url.username && !url.password && !url.search && !url.hash;
  if (!plain || !/^https?:$/.test(url.protocol) || !/\/v1\/?$/.test(url.pathname)) {
    throw new TypeError("baseUrl (or WAYBILL_BASE_URL) must be an http or https URL that ends with /v1");
  }
  if (mode === "live" && url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    throw new TypeError(
      "baseUrl (or WAYBILL_BASE_URL) must be https for a Live key: http shows the key to the network",
    );
  }
  return url.href.replace(/\/$/, "");
}

function timeOf(name: string, ms: number): number {
  if (Number.isInteger(ms) && ms > 0 && ms <= TIME_MAX_MS) return ms;
  throw new TypeError(`${name} must be a whole number of milliseconds, at most a day`);
}
