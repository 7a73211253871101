const RECONNECT_FIRST_MS = 2_000;
const RECONNECT_MAX_MS = 60_000;
/** A stream outlives its last follower by this much, since the next page often follows it again. */
const LINGER_MS = 1_000;

export interface Follower {
  event: string;
  onEvent: (data: string | null) => void;
  onOpenChange: (isOpen: boolean) => void;
  /** The connection ended, or was refused. */
  onBreak: () => void;
}

/** One connection for server-sent events, and all who follow it. It begins with the first of them. */
export class SharedStream {
  readonly #url: string;
  readonly #onClosed: () => void;
  readonly #followers = new Set<Follower>();
  /** What the connection listens to so far. */
  #events = new Set<string>();
  #source: EventSource | null = null;
  #isOpen = false;
  #wasOpen = false;
  #wait = RECONNECT_FIRST_MS;
  #reconnect: number | undefined;
  #linger: number | undefined;

  constructor(url: string, onClosed: () => void) {
    this.#url = url;
    this.#onClosed = onClosed;
    this.#connect();
  }

  /** Gives the function that ends it. */
  follow(follower: Follower): () => void {
    window.clearTimeout(this.#linger);
    this.#followers.add(follower);
    this.#listen(follower.event);
    follower.onOpenChange(this.#isOpen);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.#linger = window.setTimeout(() => this.#close(), LINGER_MS);
    };
  }

  #connect() {
    const source = new EventSource(this.#url);
    this.#source = source;
    const events = this.#events;
    this.#events = new Set();
    for (const event of events) this.#listen(event);
    source.addEventListener("open", () => this.#opened());
    source.addEventListener("reload", () => this.#missed());
    source.addEventListener("error", () => this.#failed(source));
  }

  #listen(event: string) {
    if (this.#events.has(event)) return;
    this.#events.add(event);
    this.#source?.addEventListener(event, (message) => {
      const { data } = message as MessageEvent<string>;
      for (const follower of this.#followers) if (follower.event === event) follower.onEvent(data);
    });
  }

  #opened() {
    this.#wait = RECONNECT_FIRST_MS;
    this.#setOpen(true);
    if (this.#wasOpen) this.#missed();
    this.#wasOpen = true;
  }

  /** Something may have happened that was not heard. */
  #missed() {
    for (const follower of this.#followers) follower.onEvent(null);
  }

  /** A browser tries again by itself after a break, but not after a refusal. */
  #failed(source: EventSource) {
    this.#setOpen(false);
    for (const follower of this.#followers) follower.onBreak();
    if (source.readyState !== EventSource.CLOSED) return;
    this.#reconnect = window.setTimeout(() => this.#connect(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, RECONNECT_MAX_MS);
  }

  #setOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    for (const follower of this.#followers) follower.onOpenChange(isOpen);
  }

  #close() {
    window.clearTimeout(this.#reconnect);
    this.#source?.close();
    this.#onClosed();
  }
}
