import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { ApiFailure, isCode } from "./failure";
import { setPageUser } from "./page-user";
import type { FactorAnswer } from "./passkeys";
import { isChallenge } from "./session";
import type { OperatorPermission, OperatorSession } from "./types";

/** Prefix of all query keys of the console, so that logging out removes them together. */
export const operatorKey = ["operator"] as const;
export const operatorSessionKey = [...operatorKey, "session"] as const;

const LOGGED_OUT = "operator_logged_out";

/** Like `answer`, but a 401 ends the operator's session, not that of a portal user in the same browser. */
export async function operatorAnswer<T>(call: Parameters<typeof answer<T>>[0]): Promise<T> {
  try {
    return await answer(call);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    const message = "Your session has ended. Log in again.";
    throw new ApiFailure(401, { ...error.body, code: LOGGED_OUT, message });
  }
}

export function isOperatorLoggedOut(error: unknown): boolean {
  return isCode(error, LOGGED_OUT);
}

/** The person whose data is cached. Another tab may have logged in a different one. */
let cachedPerson: string | null = null;

function clearConsole(client: QueryClient) {
  client.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] === operatorKey[0] && queryKey[1] !== operatorSessionKey[1],
  });
}

/** Removes what another person has seen. */
function remember(client: QueryClient, session: OperatorSession) {
  const person = session.id ?? session.type;
  if (person !== cachedPerson) clearConsole(client);
  cachedPerson = person;
  setPageUser("console", person);
}

/** Shows a session that has just opened. */
export function openConsole(client: QueryClient, session: OperatorSession) {
  clearConsole(client);
  remember(client, session);
  client.setQueryData(operatorSessionKey, session);
}

/** Who is logged in to the console; `null` without a session. */
const operatorSessionQuery = queryOptions({
  queryKey: operatorSessionKey,
  queryFn: async ({ client }): Promise<OperatorSession | null> => {
    try {
      const session = await operatorAnswer(api.GET("/v1/operator/session"));
      remember(client, session);
      return session;
    } catch (error) {
      if (isOperatorLoggedOut(error)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  // The session may have ended in another tab.
  refetchOnWindowFocus: "always",
});

export function useOperatorSession(enabled = true) {
  return useQuery({ ...operatorSessionQuery, enabled });
}

/** Whether the person has this permission. The server enforces it; pages only hide what it would reject. */
export function useMay(permission: OperatorPermission): boolean {
  const { data } = useOperatorSession();
  return data ? may(data, permission) : false;
}

export function may(session: OperatorSession, permission: OperatorPermission): boolean {
  return session.permissions.includes(permission);
}

export function useOperatorLogIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: { token: string } | { email: string; password: string }) => {
      try {
        return await answer(api.POST("/v1/operator/session", { body }));
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== "operator_token_invalid") throw error;
        // The server's message is for programs that send the token in a header.
        const message = "The installation token is wrong. Check it, then try again.";
        throw new ApiFailure(401, { code: error.code, message });
      }
    },
    onSuccess: (session) => {
      if (!isChallenge(session)) openConsole(client, session);
    },
    // The password or token must not stay in memory.
    gcTime: 0,
  });
}

/** Completes a log-in that waits for the second factor. */
export function useOperatorSecondStep() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: FactorAnswer) => answer(api.POST("/v1/operator/session/second-factor", { body })),
    onSuccess: (session) => openConsole(client, session),
  });
}

export function useOperatorLogOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => operatorAnswer(api.DELETE("/v1/operator/session")),
    onSuccess: (left) => {
      // The session at the identity provider is still open, and would log in again without a password.
      if (left) return window.location.assign(left.logOutUrl);
      setPageUser("console", null);
      client.setQueryData(operatorSessionKey, null);
      clearConsole(client);
    },
  });
}
