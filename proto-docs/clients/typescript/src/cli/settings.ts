/** The environment of the command line. Keys and secrets come from it, never from arguments, which others can see. */
import { Waybill } from "../client.js";
import { UsageError } from "./output.js";

export function waybill(): Waybill {
  return new Waybill({ apiKey: apiKey(), baseUrl: baseUrl(), appInfo: "command-line" });
}

export function apiKey(): string {
  return required("WAYBILL_API_KEY", "an API key of the portal");
}

export function baseUrl(): string {
  return required("WAYBILL_BASE_URL", "the API's base URL, which ends with /v1");
}

export function webhookSecret(): string | undefined {
  return process.env.WAYBILL_WEBHOOK_SECRET || undefined;
}

function required(name: string, content: string): string {
  const value = process.env[name];
  if (!value) throw new UsageError(`Set ${name} to ${content}.`);
  return value;
}
