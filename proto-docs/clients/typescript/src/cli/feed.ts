/** What the commands that follow the feed have in common: the bodies as they were sent, and word of outages. */
import type { EventPage, FollowOptions } from "../events.js";
import type { WebhookEvent } from "../types.js";
import { printError } from "./output.js";

export class Feed {
  headerPrefix = "Service";
  readonly options: Pick<FollowOptions, "onPage" | "onRetry">;
  #bodies = new Map<string, string>();
  #interrupted = false;

  constructor(onPage: () => void = () => {}) {
    this.options = {
      onPage: (page) => {
        this.#read(page);
        onPage();
      },
      onRetry: (error) => {
        if (!this.#interrupted) printError(`The feed is unavailable: ${error.message} Trying again.`);
        this.#interrupted = true;
      },
    };
  }

  /** The body of an event of the present page. Serializing the event again could change its bytes. */
  bodyOf(event: WebhookEvent): string {
    return this.#bodies.get(event.id) ?? JSON.stringify(event);
  }

  #read({ data, bodies, headerPrefix }: EventPage): void {
    this.headerPrefix = headerPrefix;
    this.#bodies = new Map(data.map(({ id }, at) => [id, bodies[at] ?? ""]));
    if (this.#interrupted) printError("Connected again.");
    this.#interrupted = false;
  }
}
