/** A queue that lets few in at once, in their order, and turns more away when too many wait. */

/** The sender is asked to come again. */
export class NotNowError extends Error {}

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    readonly runningMax: number,
    readonly waitingMax: number,
  ) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.runningMax) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The next one takes the place over.
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.waitingMax) throw new NotNowError("Too many webhooks wait.");
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
