import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isCode, isLoggedOut, isUncertain } from "./failure";
import { isOperatorLoggedOut, operatorSessionKey } from "./operator-session";
import { sessionKey } from "./session";

/** After which a connection that broke is tried once more, before that is said. */
const RETRY_PAUSE_MS = 400;
/**
 * What was read is shown again at once when its page is come back to, and read anew behind that: while the page was left
 * nobody heard of changes. Only the parts of one page share a reading.
 */
const FRESH_MS = 1_000;

export function makeQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => noticeEndOfSession(client, error) }),
    mutationCache: new MutationCache({
      onError: (error) => {
        noticeEndOfSession(client, error);
        // Whether it was done shows in what is read anew.
        if (isUncertain(error)) void client.invalidateQueries();
      },
    }),
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: shouldRetry, retryDelay: RETRY_PAUSE_MS },
      // A write is sent at once or never: one that waited for a connection would come when nobody wants it any more.
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return client;
}

/** A session that ended elsewhere leads to the log-in, whichever call found out. */
function noticeEndOfSession(client: QueryClient, error: unknown) {
  if (isLoggedOut(error)) client.setQueryData(sessionKey, null);
  if (isOperatorLoggedOut(error)) client.setQueryData(operatorSessionKey, null);
}

/** Once, where the connection broke. Whoever was slow, or said that it cannot, is not made to hide that for longer. */
function shouldRetry(failures: number, error: unknown): boolean {
  return failures === 0 && isCode(error, "unreachable");
}
