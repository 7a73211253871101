import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isCode, isLoggedOut, isUncertain } from "./failure";
import { isOperatorLoggedOut, operatorSessionKey } from "./operator-session";
import { sessionKey } from "./session";

/** Delay before the one retry after a lost connection. */
const RETRY_PAUSE_MS = 400;
/**
 * Components of one page share a fetch. A page that is opened again shows its cached data and refetches it, because no
 * stream has updated the cache meanwhile.
 */
const FRESH_MS = 1_000;

export function makeQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => noticeEndOfSession(client, error) }),
    mutationCache: new MutationCache({
      onError: (error) => {
        noticeEndOfSession(client, error);
        // Fresh data shows whether the write took effect.
        if (isUncertain(error)) void client.invalidateQueries();
      },
    }),
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: shouldRetry, retryDelay: RETRY_PAUSE_MS },
      // Writes are sent immediately or not at all: a queued write could run long after the user has given up on it.
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return client;
}

/** A 401 of any call leads to the login page. */
function noticeEndOfSession(client: QueryClient, error: unknown) {
  if (isLoggedOut(error)) client.setQueryData(sessionKey, null);
  if (isOperatorLoggedOut(error)) client.setQueryData(operatorSessionKey, null);
  // Another tab has logged in somebody else. The refetched session says whom, and the page then shows that person.
  if (isCode(error, "session_changed")) {
    void client.invalidateQueries({ queryKey: sessionKey });
    void client.invalidateQueries({ queryKey: operatorSessionKey });
  }
  // The role or the settings have changed: the session says that two-factor authentication must be set up first.
  if (isCode(error, "mfa_enrolment_required")) {
    void client.invalidateQueries({ queryKey: sessionKey });
    void client.invalidateQueries({ queryKey: operatorSessionKey });
  }
}

/** One retry after a lost connection. Timeouts and error responses are shown immediately. */
function shouldRetry(failures: number, error: unknown): boolean {
  return failures === 0 && isCode(error, "unreachable");
}
