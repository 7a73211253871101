// A confirmation in any tab replaces the cookie of the session. The server refuses calls that were on their way with the former one.
import { codeOf } from "./failure";
import { pageUserOf } from "./page-user";

/** The response with the new cookie may arrive a little later than the refusal. */
const PAUSE_MS = 300;
const WITHOUT_SESSION = ["not_logged_in", "operator_token_invalid"];

/**
 * Sends a call, and once more if it finds no session while the page shows somebody's data. A refused call has done nothing, so
 * this is safe for each method.
 */
export async function withPresentCookie(
  request: Request,
  call: (request: Request) => Promise<Response>,
): Promise<Response> {
  const again = request.clone();
  const response = await call(request);
  const isRefused = response.status === 401 && WITHOUT_SESSION.includes(await codeOf(response));
  if (!isRefused || !pageUserOf(request)) return response;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return call(again);
}
