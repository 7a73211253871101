/** The provider's options in medusa-config. */
import { Waybill } from "@waybill/client";
import type { BodyOptions } from "./order-body.js";

/** The merchant waits for the answer in Medusa. */
const DEADLINE_MS = 20_000;
const DEADLINE_MIN_MS = 1_000;
const DEADLINE_MAX_MS = 300_000;
/** Stand in for the other options while the client checks one of them. */
const VALID = { apiKey: "sk_test_00000000", baseUrl: "https://localhost/v1" };

export interface ProviderOptions extends BodyOptions {
  apiKey: string;
  /** Of the delivery API; ends with /v1. */
  baseUrl: string;
  deadlineMs?: number;
}

export function clientOf({ apiKey, baseUrl, deadlineMs = DEADLINE_MS }: ProviderOptions): Waybill {
  return new Waybill({ apiKey, baseUrl, deadlineMs, appInfo: "medusa" });
}

/** Every error at once; none for usable options. */
export function problemsOf(options: Record<string, unknown>): string[] {
  const { apiKey, baseUrl, deliveryFeePaise: fee, weightUnit, deadlineMs } = options;
  const each = [refusal({ apiKey }), refusal({ baseUrl })];
  // A Live key is refused together with some URLs.
  if (!each.some(Boolean)) each.push(refusal({ apiKey, baseUrl }));
  const problems = each.filter((problem) => problem !== undefined);
  if (fee !== undefined && !isWhole(fee, 1, Number.MAX_SAFE_INTEGER))
    problems.push("deliveryFeePaise must be a whole number of paise, at least 1");
  if (weightUnit !== undefined && weightUnit !== "g" && weightUnit !== "kg")
    problems.push('weightUnit must be "g" or "kg"');
  if (deadlineMs !== undefined && !isWhole(deadlineMs, DEADLINE_MIN_MS, DEADLINE_MAX_MS))
    problems.push(`deadlineMs must be a whole number from ${DEADLINE_MIN_MS} to ${DEADLINE_MAX_MS}`);
  return problems;
}

/** Why the client refuses these options. */
function refusal(options: Record<string, unknown>): string | undefined {
  try {
    clientOf({ ...VALID, ...options });
    return undefined;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
}
