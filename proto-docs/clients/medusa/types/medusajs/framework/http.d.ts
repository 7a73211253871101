import type { IncomingHttpHeaders } from "node:http";
import type { MedusaContainer } from "./types.js";

export interface MedusaRequest {
  headers: IncomingHttpHeaders;
  rawBody?: unknown;
  scope: MedusaContainer;
}

export interface MedusaResponse {
  status(code: number): MedusaResponse;
  json(body: unknown): unknown;
}
