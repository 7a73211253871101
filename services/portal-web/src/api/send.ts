// How calls go out: how long each is waited for, and what is known when no answer comes.
import { ApiFailure } from "./failure";
import type { ErrorBody } from "./types";

/** Longer than the slowest answer that still helps anybody. */
const READ_PATIENCE_MS = 10_000;
/** A test event is as slow as the endpoint that it goes to. */
const WRITE_PATIENCE_MS = 60_000;
/** They change nothing that somebody would have to look for: to do them again is always right. */
const HARMLESS = /\/(look-up|verify-signature|session)$/;

/** As `fetch`. What changes something is sent at once or never, and nobody is told that it failed when it may not have. */
export async function send(request: Request): Promise<Response> {
  const isRead = request.method === "GET";
  if (!isRead && !navigator.onLine) throw ApiFailure.offline();
  const mayHaveDone = !isRead && !HARMLESS.test(new URL(request.url).pathname);
  const response = await whole(request, isRead ? READ_PATIENCE_MS : WRITE_PATIENCE_MS, mayHaveDone);
  if (response.status >= 500) {
    const body = await bodyOf(response);
    if (mayHaveDone) throw ApiFailure.uncertain(response.status, body);
    // The server's words weigh for programs what a call may have done; this one has done nothing.
    throw new ApiFailure(response.status, { ...body, message: undefined });
  }
  return response;
}

/** With its body: an answer that breaks off is none. */
async function whole(request: Request, patienceMs: number, mayHaveDone: boolean): Promise<Response> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const { body, status, headers } = await fetch(request, { signal }).then(read);
    return new Response(body, { status, headers });
  } catch {
    if (mayHaveDone) throw ApiFailure.uncertain(0);
    throw signal.aborted ? ApiFailure.tooSlow() : new ApiFailure(0, {});
  }
}

async function read(response: Response) {
  const text = await response.text();
  return { body: text === "" ? null : text, status: response.status, headers: response.headers };
}

/** A proxy in between may answer with something else than our JSON. */
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
