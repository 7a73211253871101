/** The client of the delivery API. */
import { Events } from "./events.js";
import { Orders } from "./orders.js";
import { type ClientOptions, type Environment, Transport } from "./transport.js";
import type { Mode } from "./types.js";

export class Waybill {
  readonly orders: Orders;
  readonly events: Events;
  /** The mode of the key. */
  readonly mode: Mode;
  /** The longest time for a call with all its repetitions. */
  readonly deadlineMs: number;
  readonly environment: Environment;

  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    this.orders = new Orders(transport);
    this.events = new Events(transport);
    this.mode = transport.mode;
    this.deadlineMs = transport.deadlineMs;
    this.environment = transport.environment;
  }
}
