export { Waybill } from "./client.js";
export * from "./errors.js";
export type { CursorStore, EventFilters, EventPage, FollowOptions } from "./events.js";
export type { CallOptions, Created, CreateOptions } from "./orders.js";
export type { ClientOptions, Environment, Exchange, ExchangeResult } from "./transport.js";
export * from "./types.js";
export type { VerifyOptions, WebhookHeaders } from "./webhooks.js";
export * as webhooks from "./webhooks.js";
