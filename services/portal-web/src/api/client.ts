import createClient, { type MaybeOptionalInit } from "openapi-fetch";
import { ApiFailure } from "./failure";
import type { paths } from "./schema";
import { errorBody, send } from "./send";

export type { MaybeOptionalInit };

/** The portal's only HTTP client. It calls the portal's own origin. */
export const api = createClient<paths>({ baseUrl: "", credentials: "same-origin", fetch: send });

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the response body, or throws an `ApiFailure`. */
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
