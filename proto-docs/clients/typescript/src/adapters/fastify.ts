/** A webhook route for Fastify. */
import type { FastifyPluginAsync } from "fastify";
import { WebhookError } from "../errors.js";
import type { Apply, Receiver } from "../receiver.js";

const BODY_MAX_BYTES = 1024 * 1024;

export interface WebhookPluginOptions {
  path: string;
  receiver: Receiver;
  apply: Apply;
}

/** `app.register(webhookPlugin, { path: "/webhook", receiver, apply })`. Parsers of other routes stay as they are. */
export const webhookPlugin: FastifyPluginAsync<WebhookPluginOptions> = async (
  app,
  { path, receiver, apply },
) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_MAX_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  app.post(path, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : "";
    try {
      return { received: true, receipt: await receiver.receive(body, request.headers, apply) };
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      return reply.code(401).send({ message: "The signature does not match." });
    }
  });
};
