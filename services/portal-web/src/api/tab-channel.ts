/** A message channel between the tabs of one browser, with one leader. When the leader closes, another tab takes over. */
export class TabChannel<Message> {
  readonly #channel: BroadcastChannel | null = null;
  readonly #left = new AbortController();
  #resign: () => void = () => undefined;

  /** Calls `onLead` when this tab becomes the leader; immediately in browsers without locks. */
  constructor(name: string, onMessage: (message: Message) => void, onLead: () => void) {
    // Browsers offer locks only in secure contexts.
    if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
      // Only after the constructor has returned.
      queueMicrotask(() => this.#left.signal.aborted || onLead());
      return;
    }
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data);
    const lead = () => {
      if (this.#left.signal.aborted) return;
      onLead();
      return new Promise<void>((resolve) => {
        this.#resign = resolve;
      });
    };
    // Rejects if this tab closes before it leads.
    navigator.locks.request(name, { signal: this.#left.signal }, lead).catch(() => undefined);
  }

  /** Sends to all other tabs. */
  send(message: Message) {
    this.#channel?.postMessage(message);
  }

  leave() {
    this.#left.abort();
    this.#resign();
    this.#channel?.close();
  }
}
