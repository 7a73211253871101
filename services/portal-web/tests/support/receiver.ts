import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  event: string;
  mode: string;
  orderReference: string | undefined;
  /** Whether `Service-Signature` matches the receiver's secret. */
  verified: boolean;
}

/** A business's endpoint. As in the guide, it rejects webhooks that are not signed with its secret. */
export class Receiver {
  readonly received: Received[] = [];
  secret = "";
  /** Answers this status whatever the signature. */
  status: number | undefined;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
    const { port } = server.address() as AddressInfo;
    const receiver = new Receiver(server, `http://127.0.0.1:${port}/webhook`);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks);
        const verified = receiver.verify(
          String(request.headers["service-timestamp"]),
          String(request.headers["service-signature"]),
          body,
        );
        const payload = JSON.parse(body.toString());
        receiver.received.push({
          event: payload.event,
          mode: payload.mode,
          orderReference: payload.order?.orderReference,
          verified,
        });
        response.writeHead(receiver.status ?? (verified ? 200 : 401), { "content-type": "application/json" });
        response.end(JSON.stringify({ received: verified }));
      });
    });
    return receiver;
  }

  /** The expected `Service-Signature`, as in the guide. */
  sign(timestamp: string, body: string | Buffer): string {
    return `sha256=${createHmac("sha256", this.secret).update(`${timestamp}.`).update(body).digest("hex")}`;
  }

  private verify(timestamp: string, signature: string, body: Buffer): boolean {
    const [given, wanted] = [Buffer.from(signature), Buffer.from(this.sign(timestamp, body))];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((go) => this.server.close(go));
  }
}
