import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { isLoggedOut } from "./failure";
import type { Session } from "./types";

export const sessionKey = ["session"] as const;

/** By whom all that is kept was read: another tab may have logged somebody else in meanwhile. */
let readBy: string | null = null;

function forgetAll(client: QueryClient) {
  client.removeQueries({
    predicate: ({ queryKey: [kind] }) => kind !== "config" && kind !== "session",
  });
}

/** Who is logged in; `null` for nobody. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ client }): Promise<Session | null> => {
    try {
      const session = await answer(api.GET("/v1/portal/session"));
      if (session.userId !== readBy) forgetAll(client);
      readBy = session.userId;
      return session;
    } catch (error) {
      if (isLoggedOut(error)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  // It may have ended meanwhile, in another tab for instance.
  refetchOnWindowFocus: "always",
});

/** Asks again who is logged in; once, however many ask. */
export function checkSession(client: QueryClient) {
  // What cannot be told now changes nothing: the page that is shown reads on, and tells what is wrong.
  client.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => undefined);
}

export function useSessionQuery() {
  return useQuery(sessionQuery);
}

/** Whatever opens a session forgets what the one before had read. */
function useOpensSession<Input>(open: (input: Input) => Promise<Session>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: open,
    onSuccess: (session) => {
      forgetAll(client);
      readBy = session.userId;
      client.setQueryData(sessionKey, session);
    },
  });
}

export function useSignUp() {
  return useOpensSession((body: { businessName: string; email: string; password: string }) =>
    answer(api.POST("/v1/portal/accounts", { body })),
  );
}

export function useLogIn() {
  return useOpensSession((body: { email: string; password: string }) =>
    answer(api.POST("/v1/portal/session", { body })),
  );
}

export function useAcceptInvitation() {
  return useOpensSession((body: { token: string; password: string }) =>
    answer(api.POST("/v1/portal/invitations/accept", { body })),
  );
}

/** The page is loaded anew afterwards, so that nothing of the account stays in the browser's memory. */
export function useLogOut() {
  return useMutation({
    mutationFn: () => answer(api.DELETE("/v1/portal/session")),
    onSuccess: () => window.location.assign("/log-in"),
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

/** Whether a link to choose a new password would work. */
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

export function useAskForReset() {
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
