import createClient, { type MaybeOptionalInit } from "openapi-fetch";
import { ApiFailure } from "./failure";
import type { paths } from "./schema";
import { errorBody, send } from "./send";

export type { MaybeOptionalInit };

/** Every call of the pages goes through this client, to the origin that the pages came from. */
export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin", fetch: send });

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer of a call, or an `ApiFailure` thrown. */
export async function answer<T>(call: Promise<Outcome<T>>): Promise<T> {
  let outcome: Outcome<T>;
  try {
    outcome = await call;
  } catch (error) {
    throw error instanceof ApiFailure ? error : new ApiFailure(0, {});
  }
  const { data, error, response } = outcome;
  if (response.ok) return data as T;
  throw new ApiFailure(response.status, errorBody(error), retryAfter(response));
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}
