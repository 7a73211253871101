/** A webhook route for Express, and for Node's own http server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { WebhookError } from "../errors.js";
import type { Apply, Receiver } from "../receiver.js";

const BODY_MAX_BYTES = 1024 * 1024;

/** `app.post("/webhook", webhookHandler(receiver, apply))`, before any parser of bodies. */
export function webhookHandler(receiver: Receiver, apply: Apply) {
  return (
    request: IncomingMessage & { body?: unknown },
    response: ServerResponse,
    next?: (error: unknown) => void,
  ) => {
    handle(receiver, apply, request, response).catch((error) => {
      if (next) return next(error);
      // The service sends the webhook again.
      if (response.headersSent) response.destroy();
      else answer(response, 503, { message: "The webhook could not be applied. Send it again." });
    });
  };
}

async function handle(
  receiver: Receiver,
  apply: Apply,
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
): Promise<void> {
  const body = await readRaw(request);
  if (!body) return answer(response, 413, { message: "The body is too large." });
  try {
    const receipt = await receiver.receive(body, request.headers, apply);
    answer(response, 200, { received: true, receipt });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
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
