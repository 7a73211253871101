/** Sends events to the receiver as the service would: in order for each order, signed, with the retries of test mode. */
import { WaybillError } from "../errors.js";
import { safeText } from "../redact.js";
import { readBytes, systemCodeOf } from "../transport.js";
import type { WebhookEvent } from "../types.js";
import { signTestEvent } from "../webhooks.js";

const ATTEMPT_TIMEOUT_MS = 10_000;
const RETRIES_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000];
/** Between attempts while nothing listens at the URL. They use up no retry. */
const UNREACHABLE_PAUSE_MS = 2_000;
const UNREACHABLE = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"]);
const ANSWER_MAX_BYTES = 1024 * 1024;
const ANSWER_SHOWN_CHARS = 200;

export interface Attempt {
  event: WebhookEvent;
  /** Counts from 1. */
  attempt: number;
  status: number | null;
  durationMs: number;
  /** What the receiver said, or why there was no answer; null after a success. */
  failure: string | null;
  /** Null if this was the last attempt. */
  retryInMs: number | null;
}

interface Answer {
  status: number | null;
  failure: string | null;
  unreachable?: boolean;
}

export interface ForwarderOptions {
  url: string;
  secret: string;
  onAttempt: (attempt: Attempt) => void;
  /** An attempt failed, and another one follows. */
  onFailed: (event: WebhookEvent, attempt: number) => void;
  sleep: (ms: number) => Promise<void>;
  jitter: () => number;
}

export class Forwarder {
  headerPrefix = "Service";
  readonly #options: ForwarderOptions;
  /** The last event of each order with unfinished ones. */
  readonly #last = new Map<string, Promise<void>>();
  /** While the receiver is down, one event tries and the others wait for it. */
  #down: Promise<void> | undefined;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the event's outcome: taken, or out of retries. `body` is signed and sent as it is. `failed`: attempts of
   * an earlier run.
   */
  forward(event: WebhookEvent, body: string, failed: number): Promise<void> {
    const key = event.order?.id ?? event.id;
    const before = this.#last.get(key) ?? Promise.resolve();
    const outcome = before.then(() => this.#deliver(event, body, failed));
    this.#last.set(key, outcome);
    return outcome.finally(() => {
      if (this.#last.get(key) === outcome) this.#last.delete(key);
    });
  }

  async #deliver(event: WebhookEvent, body: string, failed: number): Promise<void> {
    for (let attempt = failed + 1; ; attempt += 1) {
      const retry = RETRIES_MS[attempt - 1];
      const retryInMs = retry === undefined ? null : Math.round(retry * (0.8 + 0.4 * this.#options.jitter()));
      if (!(await this.#attempt(event, body, attempt, retryInMs)) || retryInMs === null) return;
      await this.#options.sleep(retryInMs);
    }
  }

  /** Returns whether the attempt failed. */
  async #attempt(
    event: WebhookEvent,
    body: string,
    attempt: number,
    retryInMs: number | null,
  ): Promise<boolean> {
    while (this.#down) await this.#down;
    let up: (() => void) | undefined;
    try {
      for (;;) {
        const startedAt = performance.now();
        const { status, failure, unreachable } = await this.#post(body);
        const durationMs = Math.round(performance.now() - startedAt);
        const pause = unreachable ? UNREACHABLE_PAUSE_MS : failure === null ? null : retryInMs;
        // Before it is printed, so that a restart knows each attempt that was seen.
        if (!unreachable && pause !== null) this.#options.onFailed(event, attempt);
        this.#options.onAttempt({ event, attempt, status, durationMs, failure, retryInMs: pause });
        if (!unreachable) return failure !== null;
        this.#down ??= new Promise((resolve) => (up = resolve));
        await this.#options.sleep(UNREACHABLE_PAUSE_MS);
        // Another event found out too, and tries.
        if (!up) while (this.#down) await this.#down;
      }
    } finally {
      if (up) {
        this.#down = undefined;
        up();
      }
    }
  }

  async #post(body: string): Promise<Answer> {
    const { url, secret } = this.#options;
    const headers = signTestEvent(body, secret, { headerPrefix: this.headerPrefix });
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
      // The whole answer, because the service reads it too.
      const answer = await readBytes(response, ANSWER_MAX_BYTES);
      const said = safeText(answer.subarray(0, 4 * ANSWER_SHOWN_CHARS).toString("utf8")).slice(
        0,
        ANSWER_SHOWN_CHARS,
      );
      const failure = response.ok ? null : said || "an empty answer";
      return { status: response.status, failure };
    } catch (error) {
      return noAnswer(error);
    }
  }
}

function noAnswer(error: unknown): Answer {
  const failed = (failure: string) => ({ status: null, failure });
  if (error instanceof WaybillError) return failed("the answer is too large");
  if (error instanceof Error && error.name === "TimeoutError") return failed("no complete answer in 10 s");
  const unreachable = UNREACHABLE.has(systemCodeOf(error) ?? "");
  return { ...failed(unreachable ? "nothing listens there" : "the connection was closed"), unreachable };
}
