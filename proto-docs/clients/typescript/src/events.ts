/** The feed of events: everything that webhooks report, in order, to catch up after an outage or to replace them. */
import { elementsOf } from "./elements.js";
import { WaybillError } from "./errors.js";
import type { CallOptions } from "./orders.js";
import { isTransient, pauseMs } from "./retry.js";
import { type Transport, unusable } from "./transport.js";
import { isEvent, type WebhookEvent } from "./types.js";

/** The longest wait that the service allows. */
const WAIT_MAX_SECONDS = 25;
/** A reader waits no longer than this, whatever `Retry-After` says. */
const PAUSE_MAX_MS = 60_000;
/** Polls in a row without a usable answer: a captive portal or a wrong address, which waiting does not end. */
const UNUSABLE_MAX = 10;

export interface EventFilters {
  /** A page's `next`, an event's id, or `now` for only later events. */
  startingAfter?: string | undefined;
  /** RFC 3339; only without a cursor. */
  since?: string | undefined;
  /** Kinds of events; all if left out. */
  types?: readonly string[] | undefined;
  /** 1 to 100. */
  limit?: number | undefined;
}

export interface EventPage {
  data: WebhookEvent[];
  /** The body of each event's webhook, byte for byte. */
  bodies: string[];
  /** Whether more events may follow now, even if `data` is empty. */
  hasMore: boolean;
  /** The cursor after this page, also of an empty one. */
  next: string;
  /** Begins the names of the operator's webhook headers. */
  headerPrefix: string;
}

/** Where a reader of the feed keeps its place. */
export interface CursorStore {
  load(): Promise<string | null>;
  save(cursor: string): Promise<void>;
}

export interface FollowOptions extends CallOptions {
  types?: readonly string[] | undefined;
  /** Where to begin without a stored cursor: at the oldest event, or at `now` or a time (RFC 3339). */
  start?: string | undefined;
  /** How long the service holds a call without events; 25 s by default. */
  waitSeconds?: number;
  /** Called after each answered poll, before its events are returned; the page may be empty. */
  onPage?: (page: EventPage) => void;
  /** Called when a poll failed and is repeated; log it. */
  onRetry?: (error: WaybillError) => void;
}

export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page, oldest event first. With `waitSeconds` the service answers when there are events. */
  async page(
    filters: EventFilters = {},
    options: CallOptions & { waitSeconds?: number } = {},
  ): Promise<EventPage> {
    const waitSeconds = Math.min(options.waitSeconds ?? 0, WAIT_MAX_SECONDS);
    const query = {
      limit: filters.limit ?? 100,
      startingAfter: filters.startingAfter,
      since: filters.since,
      types: filters.types?.length ? filters.types.join(",") : undefined,
      waitSeconds: waitSeconds || undefined,
    };
    const { body, text, headers } = await this.#transport.send<EventPage>({
      method: "GET",
      path: "/integration/events",
      query,
      repeatable: true,
      expects: ["data", "hasMore", "next"],
      waitMs: waitSeconds * 1_000,
      signal: options.signal,
    });
    const bodies = elementsOf(text);
    if (bodies.length !== body.data.length || !body.data.every(isEvent)) throw unusable();
    return { ...body, bodies, headerPrefix: headers.get("webhook-header-prefix") ?? "Service" };
  }

  async get(id: string, options: CallOptions = {}): Promise<WebhookEvent> {
    if (!/^evt_\w{1,64}$/.test(id)) throw new TypeError("the event's id must begin with evt_");
    const path = `/integration/events/${id}`;
    const call = { method: "GET", path, repeatable: true, expects: ["id", "event"], ...options } as const;
    return (await this.#transport.send<WebhookEvent>(call)).body;
  }

  /** All events up to now. */
  async *list(
    filters: EventFilters = {},
    options: CallOptions = {},
  ): AsyncGenerator<WebhookEvent, void, void> {
    let { startingAfter, since } = filters;
    for (;;) {
      const page = await this.page({ ...filters, startingAfter, since }, options);
      yield* page.data;
      if (!page.hasMore) return;
      startingAfter = page.next;
      since = undefined;
    }
  }

  /**
   * All events, for ever. An event's place is saved when you ask for the next one, so an event whose handling failed
   * comes again. Outages are waited out. An error that waiting cannot end, such as an invalid key, is thrown, and so is
   * `unusable_answer` after ten polls in a row.
   */
  async *follow(cursors: CursorStore, options: FollowOptions = {}): AsyncGenerator<WebhookEvent, void, void> {
    let cursor = await cursors.load();
    // The first poll does not wait, so that its answer shows at once whether the key works.
    let waitSeconds = 0;
    for (;;) {
      const page = await this.#nextPage(cursor, waitSeconds, options);
      waitSeconds = options.waitSeconds ?? WAIT_MAX_SECONDS;
      for (const event of page.data) {
        yield event;
        await cursors.save(event.id);
      }
      if (page.next !== cursor) await cursors.save(page.next);
      cursor = page.next;
    }
  }

  async #nextPage(cursor: string | null, waitSeconds: number, options: FollowOptions): Promise<EventPage> {
    const { environment } = this.#transport;
    const { start, types, signal } = options;
    const since = cursor === null && start !== "now" ? start : undefined;
    const startingAfter = cursor ?? (start === "now" ? start : undefined);
    let unusable = 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const filters = { startingAfter, since, types };
        const page = await this.page(filters, { waitSeconds, ...(signal && { signal }) });
        options.onPage?.(page);
        return page;
      } catch (error) {
        if (!(error instanceof WaybillError) || !isTransient(error)) throw error;
        unusable = error.code === "unusable_answer" ? unusable + 1 : 0;
        if (unusable === UNUSABLE_MAX) throw error;
        options.onRetry?.(error);
        await environment.sleep(
          Math.min(pauseMs(attempt, error, environment.jitter()), PAUSE_MAX_MS),
          signal,
        );
      }
    }
  }
}
