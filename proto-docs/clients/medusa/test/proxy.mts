/** Stands between Medusa and the delivery API, and fails as networks do. */
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class LossyProxy {
  readonly #server: Server;
  readonly #target: string;
  /** Called when the service has answered a request that creates an order. Returns whether Medusa gets the answer. */
  onCreated: () => boolean | Promise<boolean> = () => true;
  /** The service does not get requests to such addresses. */
  blocked: RegExp | undefined;
  /** The Idempotency-Key and body of each request that creates an order. */
  created: { key: string; body: string }[] = [];

  constructor(target: string) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => {
      this.#forward(incoming).then(
        (answer) => {
          if (!answer) return void outgoing.destroy();
          outgoing.writeHead(answer.status, answer.headers).end(answer.body);
        },
        (error) => outgoing.destroy(error),
      );
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #forward(incoming: IncomingMessage) {
    const body = await bytesOf(incoming);
    const { method, headers, url = "/" } = incoming;
    if (this.blocked?.test(url)) return undefined;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(new URL(url, this.#target), { method, headers }, resolve).on("error", reject).end(body);
    });
    const answer = {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: await bytesOf(response),
    };
    if (method !== "POST" || !url.endsWith("/integration/orders")) return answer;
    this.created.push({ key: String(headers["idempotency-key"]), body: body.toString() });
    return (await this.onCreated()) ? answer : undefined;
  }
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
