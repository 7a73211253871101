// Sends requests with timeouts, and decides what a missing response means.
import { markUnattended } from "./attendance";
import { ApiFailure } from "./failure";
import { readsReleased } from "./held-reads";
import { namePageUser } from "./page-user";
import { confirmIdentity, isConfirmationNeeded } from "./recent-authentication";
import { withPresentCookie } from "./replaced-cookie";
import type { ErrorBody } from "./types";

/** A slower response is of no use to the user. */
const READ_TIMEOUT_MS = 10_000;
/** Sending a test event takes as long as the endpoint that receives it. */
const WRITE_TIMEOUT_MS = 60_000;
/** POST and DELETE calls that are always safe to repeat. */
const SAFE_TO_REPEAT =
  /\/(look-up|verify-signature|email-confirmations\/confirm|session|session\/confirm|sso\/log-ins|sso\/log-ins\/complete|single-sign-on\/test)$/;

/**
 * Like `fetch`, with timeouts. An offline write fails immediately; a write that may have taken effect fails as uncertain.
 * A call with a cookie that has just been replaced is repeated. A call that needs a recent authentication is repeated after the user has confirmed their identity.
 */
export async function send(request: Request): Promise<Response> {
  markUnattended(request);
  namePageUser(request);
  const again = request.clone();
  const response = await withPresentCookie(request, sendOnce);
  if (!(await isConfirmationNeeded(response))) return response;
  return (await confirmIdentity(request.url)) ? sendOnce(again) : response;
}

async function sendOnce(request: Request): Promise<Response> {
  const isRead = request.method === "GET";
  if (isRead) await readsReleased();
  if (!isRead && !navigator.onLine) throw ApiFailure.offline();
  const canTakeEffect = !isRead && !SAFE_TO_REPEAT.test(new URL(request.url).pathname);
  const response = await fetchWhole(request, isRead ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS, canTakeEffect);
  if (response.status >= 500) {
    const body = await bodyOf(response);
    if (canTakeEffect) throw ApiFailure.uncertain(response.status, body);
    // The server's message discusses side effects; this call has none.
    throw new ApiFailure(response.status, { ...body, message: undefined });
  }
  return response;
}

/** Reads the whole body, so that a truncated response counts as none. */
async function fetchWhole(request: Request, timeoutMs: number, canTakeEffect: boolean): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { body, status, headers } = await fetch(request, { signal }).then(read);
    return new Response(body, { status, headers });
  } catch {
    if (canTakeEffect) throw ApiFailure.uncertain(0);
    throw signal.aborted ? ApiFailure.tooSlow() : new ApiFailure(0, {});
  }
}

async function read(response: Response) {
  const text = await response.text();
  return { body: text === "" ? null : text, status: response.status, headers: response.headers };
}

/** A proxy may respond with something other than our JSON. */
async function bodyOf(response: Response): Promise<Partial<ErrorBody>> {
  try {
    return errorBody(await response.json());
  } catch {
    return {};
  }
}

export function errorBody(error: unknown): Partial<ErrorBody> {
  const isOurs = typeof error === "object" && error !== null && "message" in error;
  return isOurs ? (error as Partial<ErrorBody>) : {};
}
