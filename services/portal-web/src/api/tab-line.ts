/** What the tabs of one browser say to each other under one name. One of them leads; when it leaves, another does. */
export class TabLine<Word> {
  readonly #channel: BroadcastChannel | null = null;
  readonly #left = new AbortController();
  #resign: () => void = () => undefined;

  /** `onLead` is called when it is this tab's turn to lead: at once, where tabs cannot know of each other. */
  constructor(name: string, onWord: (word: Word) => void, onLead: () => void) {
    // Browsers have locks only where the connection is secure.
    if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
      // Not before the line is there.
      queueMicrotask(() => this.#left.signal.aborted || onLead());
      return;
    }
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Word>) => onWord(data);
    const lead = () => {
      if (this.#left.signal.aborted) return;
      onLead();
      return new Promise<void>((resolve) => {
        this.#resign = resolve;
      });
    };
    // It rejects when this tab leaves before its turn.
    navigator.locks.request(name, { signal: this.#left.signal }, lead).catch(() => undefined);
  }

  /** To every other tab. */
  say(word: Word) {
    this.#channel?.postMessage(word);
  }

  leave() {
    this.#left.abort();
    this.#resign();
    this.#channel?.close();
  }
}
