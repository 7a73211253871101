import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { isLoggedOut } from "./failure";
import { setPageUser } from "./page-user";
import type { FactorAnswer } from "./passkeys";
import type { Challenge, Session } from "./types";

export const sessionKey = ["session"] as const;

/** The user whose data is cached. Another tab may have logged in a different user, or switched to another business. */
let cachedUser: string | null = null;

function clearCache(client: QueryClient) {
  client.removeQueries({
    predicate: ({ queryKey: [kind] }) => kind !== "config" && kind !== "session",
  });
}

function remember(session: Session) {
  cachedUser = session.userId;
  setPageUser("portal", session.userId);
}

/** The current session, or `null`. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ client }): Promise<Session | null> => {
    try {
      const session = await answer(api.GET("/v1/portal/session"));
      if (session.userId !== cachedUser) clearCache(client);
      remember(session);
      return session;
    } catch (error) {
      if (isLoggedOut(error)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  // The session may have ended in another tab.
  refetchOnWindowFocus: "always",
});

/** Refetches the session. Concurrent calls share one fetch. */
export function checkSession(client: QueryClient) {
  // If this fails, the page stays: its own queries report the problem.
  client.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => undefined);
}

export function useSessionQuery(enabled = true) {
  return useQuery({ ...sessionQuery, enabled });
}

/** Whether the log-in waits for the second factor. */
export function isChallenge(opened: object | undefined): opened is Challenge {
  return opened !== undefined && "mfaRequired" in opened;
}

/** Replaces the previous user's cached data by a session that has just opened. */
export function clearForSession(client: QueryClient, session: Session) {
  clearCache(client);
  cachedUser = session.userId;
  client.setQueryData(sessionKey, session);
}

/** Clears the previous user's cached data when a session opens. */
function useOpenSession<Input>(open: (input: Input) => Promise<Session | Challenge>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: open,
    onSuccess: (session) => {
      if (!isChallenge(session)) clearForSession(client, session);
    },
  });
}

export function useSignUp() {
  return useOpenSession((body: { businessName: string; email: string; password: string }) =>
    answer(api.POST("/v1/portal/accounts", { body })),
  );
}

export function useLogIn() {
  return useOpenSession((body: { email: string; password: string }) =>
    answer(api.POST("/v1/portal/session", { body })),
  );
}

/** Completes a log-in that waits for the second factor. */
export function useSecondStep() {
  return useOpenSession((body: FactorAnswer) =>
    answer(api.POST("/v1/portal/session/second-factor", { body })),
  );
}

export function useAcceptInvitation() {
  return useOpenSession((body: { token: string; password: string }) =>
    answer(api.POST("/v1/portal/invitations/accept", { body })),
  );
}

/** Loads the portal anew, so that no data, stream or form of the former business stays. */
function useChangeBusiness<Input>(change: (input: Input) => Promise<Session>) {
  return useMutation({ mutationFn: change, onSuccess: () => window.location.assign("/") });
}

export function useSwitchBusiness() {
  return useChangeBusiness((businessId: string) =>
    answer(api.POST("/v1/portal/session/business", { body: { businessId } })),
  );
}

export function useJoinBusiness() {
  return useChangeBusiness((token: string) =>
    answer(api.POST("/v1/portal/memberships", { body: { token } })),
  );
}

export function useCreateBusiness() {
  return useChangeBusiness((body: { businessName: string }) =>
    answer(api.POST("/v1/portal/businesses", { body })),
  );
}

/** Reloads the page afterwards, so that no account data stays in memory. */
export function useLogOut() {
  return useMutation({
    mutationFn: () => answer(api.DELETE("/v1/portal/session")),
    // The session at the identity provider is still open, and would log in again without a password.
    onSuccess: (left) => window.location.assign(left ? left.logOutUrl : "/log-in"),
  });
}

export function useInvitationPreview(token: string) {
  return useQuery({
    queryKey: ["invitation-preview"],
    queryFn: () => answer(api.POST("/v1/portal/invitations/look-up", { body: { token } })),
    enabled: token !== "",
    gcTime: 0,
    retry: false,
  });
}

/** Checks whether a password reset link is valid. */
export function useResetLink(token: string) {
  return useQuery({
    queryKey: ["reset-link", token],
    queryFn: async () => {
      await answer(api.POST("/v1/portal/password-resets/look-up", { body: { token } }));
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
}

export function useRequestReset() {
  return useMutation({
    mutationFn: (body: { email: string }) => answer(api.POST("/v1/portal/password-resets", { body })),
  });
}

export function useResetPassword() {
  return useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      answer(api.POST("/v1/portal/password-resets/confirm", { body })),
  });
}
