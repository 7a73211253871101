/** The feed of events: everything that webhooks report, in order, to catch up after an outage or to replace them. */
import { WaybillError } from "./errors.js";
import type { CallOptions } from "./orders.js";
import { isTransient, pauseMs } from "./retry.js";
import type { Transport } from "./transport.js";
import type { WebhookEvent } from "./types.js";

/** The longest wait that the service allows. */
const WAIT_MAX_SECONDS = 25;

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
  /** Whether more events may follow now, even if `data` is empty. */
  hasMore: boolean;
  /** The cursor after this page, also of an empty one. */
  next: string;
}

/** Where a reader of the feed keeps its place. */
export interface CursorStore {
  load(): Promise<string | null>;
  save(cursor: string): Promise<void>;
}

export interface FollowOptions extends CallOptions {
  types?: readonly string[] | undefined;
  /** Where to begin without a stored cursor: at the oldest event, unless `now` or a time is given. */
  start?: "now" | { since: string } | undefined;
  /** How long the service holds a call without events; 25 s by default. */
  waitSeconds?: number;
  /** Called after each answered poll; `page` may be empty. `headerPrefix` begins the operator's webhook headers. */
  onPage?: (page: EventPage, headerPrefix: string) => void;
  /** Called when a poll failed and is repeated. */
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
  ): Promise<{ page: EventPage; headerPrefix: string }> {
    const waitSeconds = Math.min(options.waitSeconds ?? 0, WAIT_MAX_SECONDS);
    const query = {
      limit: filters.limit ?? 100,
      startingAfter: filters.startingAfter,
      since: filters.since,
      types: filters.types?.length ? filters.types.join(",") : undefined,
      waitSeconds: waitSeconds || undefined,
    };
    const { body, headers } = await this.#transport.send<EventPage>({
      method: "GET",
      path: "/integration/events",
      query,
      repeatable: true,
      waitMs: waitSeconds * 1_000,
      signal: options.signal,
    });
    return { page: body, headerPrefix: headers.get("webhook-header-prefix") ?? "Service" };
  }

  async get(id: string, options: CallOptions = {}): Promise<WebhookEvent> {
    if (!/^evt_\w{1,64}$/.test(id)) throw new TypeError("the event's id must begin with evt_");
    const call = { method: "GET", path: `/integration/events/${id}`, repeatable: true, ...options } as const;
    return (await this.#transport.send<WebhookEvent>(call)).body;
  }

  /** All events up to now. */
  async *list(
    filters: EventFilters = {},
    options: CallOptions = {},
  ): AsyncGenerator<WebhookEvent, void, void> {
    let { startingAfter, since } = filters;
    for (;;) {
      const { page } = await this.page({ ...filters, startingAfter, since }, options);
      yield* page.data;
      if (!page.hasMore) return;
      startingAfter = page.next;
      since = undefined;
    }
  }

  /**
   * All events, for ever. An event's place is saved when you ask for the next one, so an event whose handling failed
   * comes again. Outages are waited out; an error that waiting cannot end, such as an invalid key, is thrown.
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
    const since = cursor === null && typeof start === "object" ? start.since : undefined;
    const startingAfter = cursor ?? (start === "now" ? start : undefined);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const filters = { startingAfter, since, types };
        const { page, headerPrefix } = await this.page(filters, { waitSeconds, ...(signal && { signal }) });
        options.onPage?.(page, headerPrefix);
        return page;
      } catch (error) {
        if (!(error instanceof WaybillError) || !isTransient(error)) throw error;
        options.onRetry?.(error);
        await environment.sleep(pauseMs(attempt, error, environment.jitter()), signal);
      }
    }
  }
}
