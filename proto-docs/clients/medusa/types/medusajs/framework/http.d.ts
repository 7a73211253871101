import type { IncomingHttpHeaders } from "node:http";
import type { MedusaContainer } from "./types.js";

export interface MedusaRequest {
  headers: IncomingHttpHeaders;
  rawBody?: unknown;
  scope: MedusaContainer;
}

export interface MedusaResponse {
  /** The connection is closed. */
  destroyed: boolean;
  status(code: number): MedusaResponse;
  set(header: string, value: string): MedusaResponse;
  json(body: unknown): unknown;
}
