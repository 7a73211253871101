import { holdReads } from "./held-reads";
import { TabChannel } from "./tab-channel";

const RECONNECT_FIRST_MS = 2_000;
const RECONNECT_MAX_MS = 60_000;
/** Delay before an unused stream is closed: the next page often subscribes to it again. */
const LINGER_MS = 1_000;
/** The server sends it once when a stream opens. Reads have waited for that. */
const GREETING = "changed";

export interface Subscriber {
  event: string;
  onEvent: (data: string | null) => void;
  onOpenChange: (isOpen: boolean) => void;
  /** The connection was lost or rejected. */
  onBreak: () => void;
}

/** Messages between tabs. `hello` goes to the tab with the connection; all others come from it. */
type TabMessage =
  | { kind: "hello"; events: string[] }
  | { kind: "open"; isOpen: boolean }
  /** With `null`, events may have been missed. */
  | { kind: "event"; event: string | null; data: string | null }
  | { kind: "break" };

/**
 * One connection for server-sent events, shared by all tabs, because browsers limit connections per host. One tab holds
 * it; when that tab closes, another one takes over.
 */
export class SharedStream {
  readonly #url: string;
  readonly #onClosed: () => void;
  readonly #subscribers = new Set<Subscriber>();
  readonly #channel: TabChannel<TabMessage>;
  /** The events that the connection listens to. */
  #events = new Set<string>();
  #source: EventSource | null = null;
  #isOpen = false;
  /** Until the stream is open for the first time. */
  #releaseReads: (() => boolean) | null = holdReads();
  #delay = RECONNECT_FIRST_MS;
  #reconnect: number | undefined;
  #linger: number | undefined;

  /** Tabs share the connection by `name`. */
  constructor(url: string, name: string, onClosed: () => void) {
    this.#url = url;
    this.#onClosed = onClosed;
    this.#channel = new TabChannel<TabMessage>(
      name,
      (message) => this.#receive(message),
      () => this.#takeOver(),
    );
  }

  /** Returns the function that unsubscribes. */
  subscribe(subscriber: Subscriber): () => void {
    window.clearTimeout(this.#linger);
    this.#subscribers.add(subscriber);
    this.#listen(subscriber.event);
    if (!this.#source) this.#channel.send({ kind: "hello", events: [...this.#events] });
    subscriber.onOpenChange(this.#isOpen);
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#linger = window.setTimeout(() => this.#close(), LINGER_MS);
    };
  }

  /** Makes this tab hold the connection. */
  #takeOver() {
    this.#setOpen(false);
    this.#connect();
  }

  /** Sends to all tabs, including this one. */
  #broadcast(message: TabMessage) {
    this.#channel.send(message);
    this.#receive(message);
  }

  #receive(message: TabMessage) {
    if (message.kind === "hello") {
      if (!this.#source) return;
      for (const event of message.events) this.#listen(event);
      this.#channel.send({ kind: "open", isOpen: this.#isOpen });
    } else if (message.kind === "open") {
      this.#setOpen(message.isOpen);
    } else if (message.kind === "break") {
      this.#releaseReads?.();
      for (const subscriber of this.#subscribers) subscriber.onBreak();
    } else {
      for (const subscriber of this.#subscribers) {
        if (message.event === null || message.event === subscriber.event) subscriber.onEvent(message.data);
      }
    }
  }

  #connect() {
    const source = new EventSource(this.#url);
    this.#source = source;
    for (const event of this.#events) this.#relay(source, event);
    source.addEventListener("open", () => this.#opened());
    source.addEventListener("reload", () => this.#missed());
    source.addEventListener("error", () => this.#failed(source));
  }

  #listen(event: string) {
    if (this.#events.has(event)) return;
    this.#events.add(event);
    if (this.#source) this.#relay(this.#source, event);
  }

  #relay(source: EventSource, event: string) {
    let isGreeting = event === GREETING && !this.#isOpen;
    source.addEventListener(event, (message) => {
      if (isGreeting) {
        isGreeting = false;
        return;
      }
      const { data } = message as MessageEvent<string>;
      this.#broadcast({ kind: "event", event, data });
    });
  }

  #opened() {
    this.#delay = RECONNECT_FIRST_MS;
    const isFirst = this.#releaseReads !== null;
    this.#broadcast({ kind: "open", isOpen: true });
    if (!isFirst) this.#missed();
  }

  /** Events may have been missed. */
  #missed() {
    this.#broadcast({ kind: "event", event: null, data: null });
  }

  /** Reconnects after a random delay, so that browsers that lost the connection together do not return together. */
  #failed(source: EventSource) {
    const wasRefused = source.readyState === EventSource.CLOSED;
    source.close();
    this.#broadcast({ kind: "open", isOpen: false });
    this.#broadcast({ kind: "break" });
    const pause = this.#delay * (0.5 + Math.random());
    this.#reconnect = window.setTimeout(() => this.#connect(), pause);
    if (wasRefused) this.#delay = Math.min(this.#delay * 2, RECONNECT_MAX_MS);
  }

  #setOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    for (const subscriber of this.#subscribers) subscriber.onOpenChange(isOpen);
    if (!isOpen || !this.#releaseReads) return;
    const hasWaited = this.#releaseReads();
    this.#releaseReads = null;
    // What was read before the stream was open may be old.
    if (!hasWaited) this.#receive({ kind: "event", event: null, data: null });
  }

  #close() {
    window.clearTimeout(this.#reconnect);
    this.#releaseReads?.();
    this.#source?.close();
    this.#channel.leave();
    this.#onClosed();
  }
}
