// The sessions and the password of the own account: of a portal user, or of a person of the operator's staff.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { AccountScope } from "./recent-authentication";

interface Passwords {
  currentPassword: string;
  newPassword: string;
}

const page = (startingAfter: string | undefined) => ({
  params: { query: { limit: PAGE_SIZE, startingAfter } },
});
const one = (id: string) => ({ params: { path: { id } } });

const CALLS = {
  portal: {
    list: (after: string | undefined) => answer(api.GET("/v1/portal/sessions", page(after))),
    end: (id: string) => answer(api.DELETE("/v1/portal/sessions/{id}", one(id))),
    endOthers: () => answer(api.POST("/v1/portal/sessions/revoke-others")),
    changePassword: (body: Passwords) => answer(api.PUT("/v1/portal/password", { body })),
  },
  operator: {
    list: (after: string | undefined) => operatorAnswer(api.GET("/v1/operator/sessions", page(after))),
    end: (id: string) => operatorAnswer(api.DELETE("/v1/operator/sessions/{id}", one(id))),
    endOthers: () => operatorAnswer(api.POST("/v1/operator/sessions/revoke-others")),
    changePassword: (body: Passwords) => operatorAnswer(api.PUT("/v1/operator/password", { body })),
  },
};

export const sessionsKey = ["sessions"] as const;

const keyOf = (scope: AccountScope) =>
  scope === "portal" ? sessionsKey : ([...operatorKey, "sessions"] as const);

export function useSessions(scope: AccountScope) {
  return useCursorList(keyOf(scope), CALLS[scope].list);
}

function useAccountMutation<Input, Output>(scope: AccountScope, act: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(scope) }),
  });
}

export function useEndSession(scope: AccountScope) {
  return useAccountMutation(scope, (id: string) => CALLS[scope].end(id));
}

export function useEndOtherSessions(scope: AccountScope) {
  return useAccountMutation(scope, () => CALLS[scope].endOthers());
}

export function useChangePassword(scope: AccountScope) {
  return useAccountMutation(scope, (body: Passwords) => CALLS[scope].changePassword(body));
}
