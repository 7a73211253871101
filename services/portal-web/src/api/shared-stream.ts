import { TabLine } from "./tab-line";

const RECONNECT_FIRST_MS = 2_000;
const RECONNECT_MAX_MS = 60_000;
/** Delay before an unused stream is closed: the next page often subscribes to it again. */
const LINGER_MS = 1_000;

export interface Follower {
  event: string;
  onEvent: (data: string | null) => void;
  onOpenChange: (isOpen: boolean) => void;
  /** The connection was lost or rejected. */
  onBreak: () => void;
}

/** Messages between tabs. `hello` goes to the tab with the connection; all others come from it. */
type Word =
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
  readonly #followers = new Set<Follower>();
  readonly #line: TabLine<Word>;
  /** The events that the connection listens to. */
  #events = new Set<string>();
  #source: EventSource | null = null;
  #isOpen = false;
  #wasOpen = false;
  #wait = RECONNECT_FIRST_MS;
  #reconnect: number | undefined;
  #linger: number | undefined;

  /** Tabs share the connection by `name`. */
  constructor(url: string, name: string, onClosed: () => void) {
    this.#url = url;
    this.#onClosed = onClosed;
    this.#line = new TabLine<Word>(
      name,
      (word) => this.#hear(word),
      () => this.#lead(),
    );
  }

  /** Returns the function that unsubscribes. */
  follow(follower: Follower): () => void {
    window.clearTimeout(this.#linger);
    this.#followers.add(follower);
    this.#listen(follower.event);
    if (!this.#source) this.#line.say({ kind: "hello", events: [...this.#events] });
    follower.onOpenChange(this.#isOpen);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.#linger = window.setTimeout(() => this.#close(), LINGER_MS);
    };
  }

  /** Makes this tab hold the connection. */
  #lead() {
    this.#setOpen(false);
    this.#connect();
  }

  /** Sends to all tabs, including this one. */
  #tell(word: Word) {
    this.#line.say(word);
    this.#hear(word);
  }

  #hear(word: Word) {
    if (word.kind === "hello") {
      if (!this.#source) return;
      for (const event of word.events) this.#listen(event);
      this.#line.say({ kind: "open", isOpen: this.#isOpen });
    } else if (word.kind === "open") {
      this.#setOpen(word.isOpen);
    } else if (word.kind === "break") {
      for (const follower of this.#followers) follower.onBreak();
    } else {
      for (const follower of this.#followers) {
        if (word.event === null || word.event === follower.event) follower.onEvent(word.data);
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
    source.addEventListener(event, (message) => {
      const { data } = message as MessageEvent<string>;
      this.#tell({ kind: "event", event, data });
    });
  }

  #opened() {
    this.#wait = RECONNECT_FIRST_MS;
    const isBack = this.#wasOpen;
    this.#tell({ kind: "open", isOpen: true });
    if (isBack) this.#missed();
  }

  /** Events may have been missed. */
  #missed() {
    this.#tell({ kind: "event", event: null, data: null });
  }

  /** Reconnects after a random delay, so that browsers that lost the connection together do not return together. */
  #failed(source: EventSource) {
    const wasRefused = source.readyState === EventSource.CLOSED;
    source.close();
    this.#tell({ kind: "open", isOpen: false });
    this.#tell({ kind: "break" });
    const pause = this.#wait * (0.5 + Math.random());
    this.#reconnect = window.setTimeout(() => this.#connect(), pause);
    if (wasRefused) this.#wait = Math.min(this.#wait * 2, RECONNECT_MAX_MS);
  }

  #setOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    this.#wasOpen ||= isOpen;
    for (const follower of this.#followers) follower.onOpenChange(isOpen);
  }

  #close() {
    window.clearTimeout(this.#reconnect);
    this.#source?.close();
    this.#line.leave();
    this.#onClosed();
  }
}
