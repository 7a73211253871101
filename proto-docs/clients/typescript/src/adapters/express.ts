/** Webhook routes for Express, and for Node's own http server. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type RefusalReason, WebhookError } from "../errors.js";
import { type Apply, logRefusal, type Receiver } from "../receiver.js";
import type { WebhookEvent } from "../types.js";
import { constructEvent, parseSecrets, type VerifyOptions } from "../webhooks.js";

const BODY_MAX_BYTES = 1024 * 1024;

// biome-ignore lint/suspicious/noConsole: without a framework, nothing else reports it.
const report = (what: unknown) => console.error(what);

/** `app.post("/webhook", webhookHandler(receiver, apply))`, before any parser of bodies. */
export function webhookHandler(receiver: Receiver, apply: Apply) {
  return handlerOf(async (body, headers) => ({ receipt: await receiver.receive(body, headers, apply) }));
}

/**
 * Hands over each verified event, without a database: `createServer(eventHandler(secret, handle))`. The same event may
 * come again and out of order. If `handle` throws, it certainly comes again.
 */
export function eventHandler(
  secrets: string | readonly string[] | undefined,
  handle: (event: WebhookEvent) => unknown,
  options: VerifyOptions & { onRefused?: (reason: RefusalReason) => void } = {},
) {
  const known = secrets ?? "";
  parseSecrets(known);
  const { onRefused = logRefusal } = options;
  const receive: Receive = async (body, headers) => {
    await handle(constructEvent(body, headers, known, options));
    return {};
  };
  return handlerOf(receive, onRefused);
}

/** Returns what to answer besides `received`. */
type Receive = (body: Buffer, headers: IncomingHttpHeaders) => Promise<object>;

function handlerOf(receive: Receive, onRefused?: (reason: RefusalReason) => void) {
  return (
    request: IncomingMessage & { body?: unknown },
    response: ServerResponse,
    next?: (error: unknown) => void,
  ) => {
    respond(receive, onRefused, request, response).catch((error) => {
      if (next) return next(error);
      report(error);
      // The service sends the webhook again.
      if (response.headersSent) response.destroy();
      else answer(response, 503, { message: "The webhook could not be applied. Send it again." });
    });
  };
}

async function respond(
  receive: Receive,
  onRefused: ((reason: RefusalReason) => void) | undefined,
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
): Promise<void> {
  const body = await readRaw(request);
  if (!body) return answer(response, 413, { message: "The body is too large." });
  try {
    answer(response, 200, { received: true, ...(await receive(body, request.headers)) });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    onRefused?.(error.reason);
    answer(response, 401, { message: "The signature does not match." });
  }
}

async function readRaw(request: IncomingMessage & { body?: unknown }): Promise<Buffer | undefined> {
  if (Buffer.isBuffer(request.body)) return request.body;
  if (request.readableEnded)
    throw new TypeError("another parser read the body; mount the webhook route before it");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // The rest is read and dropped, so that the sender gets the answer.
    if (length <= BODY_MAX_BYTES) chunks.push(chunk);
  }
  return length <= BODY_MAX_BYTES ? Buffer.concat(chunks) : undefined;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
