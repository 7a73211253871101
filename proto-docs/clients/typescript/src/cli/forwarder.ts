/** Sends events to the receiver as the service would: in order for each order, signed, with the retries of test mode. */
import { safeText } from "../redact.js";
import type { WebhookEvent } from "../types.js";
import { signTestEvent } from "../webhooks.js";

const ATTEMPT_TIMEOUT_MS = 10_000;
const RETRIES_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000];
/** Between attempts while nothing listens at the URL. They use up no retry. */
const UNREACHABLE_PAUSE_MS = 2_000;
const ANSWER_SHOWN_MAX_BYTES = 400;

export interface Attempt {
  event: WebhookEvent;
  /** Counts from 1. */
  attempt: number;
  status: number | undefined;
  durationMs: number;
  /** What the receiver said, or why there was no answer; undefined after a success. */
  failure: string | undefined;
  /** Undefined if this was the last attempt. */
  retryInMs: number | undefined;
}

interface Answer {
  status: number | undefined;
  failure: string | undefined;
  unreachable?: boolean;
}

export interface ForwarderOptions {
  url: string;
  secret: string;
  onAttempt: (attempt: Attempt) => void;
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

  /** Resolves with the event's outcome: taken, or out of retries. */
  forward(event: WebhookEvent): Promise<void> {
    const key = event.order?.id ?? event.id;
    const before = this.#last.get(key) ?? Promise.resolve();
    const outcome = before.then(() => this.#deliver(event));
    this.#last.set(key, outcome);
    return outcome.finally(() => {
      if (this.#last.get(key) === outcome) this.#last.delete(key);
    });
  }

  async #deliver(event: WebhookEvent): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const retry = RETRIES_MS[attempt - 1];
      const retryInMs =
        retry === undefined ? undefined : Math.round(retry * (0.8 + 0.4 * this.#options.jitter()));
      if (!(await this.#attempt(event, attempt, retryInMs)) || retryInMs === undefined) return;
      await this.#options.sleep(retryInMs);
    }
  }

  /** Returns whether the attempt failed. */
  async #attempt(event: WebhookEvent, attempt: number, retryInMs: number | undefined): Promise<boolean> {
    while (this.#down) await this.#down;
    let up: (() => void) | undefined;
    try {
      for (;;) {
        const startedAt = performance.now();
        const { status, failure, unreachable } = await this.#post(event);
        const durationMs = Math.round(performance.now() - startedAt);
        const pause = unreachable ? UNREACHABLE_PAUSE_MS : failure === undefined ? undefined : retryInMs;
        this.#options.onAttempt({ event, attempt, status, durationMs, failure, retryInMs: pause });
        if (!unreachable) return failure !== undefined;
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

  async #post(event: WebhookEvent): Promise<Answer> {
    const body = JSON.stringify(event);
    const { url, secret } = this.#options;
    const headers = signTestEvent(body, secret, { headerPrefix: this.headerPrefix });
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
      const said = await beginningOf(response);
      const failure = response.ok ? undefined : said || "(an empty answer)";
      return { status: response.status, failure };
    } catch (error) {
      return noAnswer(error);
    }
  }
}

/** Reads the whole answer, because the service does, and keeps its beginning. */
async function beginningOf(response: Response): Promise<string> {
  let kept = Buffer.alloc(0);
  for await (const chunk of response.body ?? []) {
    if (kept.length < ANSWER_SHOWN_MAX_BYTES) kept = Buffer.concat([kept, chunk]);
  }
  return safeText(kept.subarray(0, ANSWER_SHOWN_MAX_BYTES).toString("utf8"));
}

function noAnswer(error: unknown): Answer {
  if (error instanceof Error && error.name === "TimeoutError") {
    return { status: undefined, failure: `no complete answer in ${ATTEMPT_TIMEOUT_MS / 1_000} s` };
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no code";
  const unreachable = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"].includes(
    code,
  );
  return {
    status: undefined,
    failure: unreachable ? `nothing listens (${code})` : `no answer (${code})`,
    unreachable,
  };
}
