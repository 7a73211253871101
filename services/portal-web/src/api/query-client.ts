import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiFailure, isLoggedOut } from "./failure";
import { isOperatorLoggedOut, operatorSessionKey } from "./operator-session";
import { sessionKey } from "./session";

/** How often a read is repeated when nothing answers, before that is said. */
const RETRIES_MAX = 2;
/**
 * What was read is shown again at once when its page is come back to, and read anew behind that: while the page was left
 * nobody heard of changes. Only the parts of one page share a reading.
 */
const FRESH_MS = 1_000;

export function makeQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => noticeEndOfSession(client, error) }),
    mutationCache: new MutationCache({ onError: (error) => noticeEndOfSession(client, error) }),
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: shouldRetry },
      mutations: { retry: false },
    },
  });
  return client;
}

/** A session that ended elsewhere leads to the log-in, whichever call found out. */
function noticeEndOfSession(client: QueryClient, error: unknown) {
  if (isLoggedOut(error)) client.setQueryData(sessionKey, null);
  if (isOperatorLoggedOut(error)) client.setQueryData(operatorSessionKey, null);
}

/** A refusal stays one; silence and a busy server may pass. */
function shouldRetry(failures: number, error: unknown): boolean {
  if (failures >= RETRIES_MAX) return false;
  return !(error instanceof ApiFailure) || error.status === 0 || error.status >= 500;
}
