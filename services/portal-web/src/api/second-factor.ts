// The second factor of the own account: of a portal user, or of a person of the operator's staff.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { AccountScope } from "./recent-authentication";

const CALLS = {
  portal: {
    read: () => answer(api.GET("/v1/portal/second-factor")),
    start: () => answer(api.POST("/v1/portal/second-factor")),
    confirm: (code: string) => answer(api.POST("/v1/portal/second-factor/confirm", { body: { code } })),
    replaceCodes: () => answer(api.POST("/v1/portal/second-factor/recovery-codes")),
    remove: () => answer(api.DELETE("/v1/portal/second-factor")),
  },
  operator: {
    read: () => operatorAnswer(api.GET("/v1/operator/second-factor")),
    start: () => operatorAnswer(api.POST("/v1/operator/second-factor")),
    confirm: (code: string) =>
      operatorAnswer(api.POST("/v1/operator/second-factor/confirm", { body: { code } })),
    replaceCodes: () => operatorAnswer(api.POST("/v1/operator/second-factor/recovery-codes")),
    remove: () => operatorAnswer(api.DELETE("/v1/operator/second-factor")),
  },
};

export const factorKey = (scope: AccountScope) =>
  scope === "portal" ? ["second-factor"] : [...operatorKey, "second-factor"];

export function useFactor(scope: AccountScope) {
  return useQuery({ queryKey: factorKey(scope), queryFn: CALLS[scope].read });
}

/** The response contains the secret: only the page that shows it keeps it. */
export function useStartFactor(scope: AccountScope) {
  return useMutation({ mutationFn: () => CALLS[scope].start(), gcTime: 0 });
}

/** The response contains recovery codes. Does not refetch: the page that shows them must stay. */
export function useConfirmFactor(scope: AccountScope) {
  return useMutation({ mutationFn: (code: string) => CALLS[scope].confirm(code), gcTime: 0 });
}

export function useReplaceCodes(scope: AccountScope) {
  return useMutation({ mutationFn: () => CALLS[scope].replaceCodes(), gcTime: 0 });
}

export function useRemoveFactor(scope: AccountScope) {
  return useMutation({ mutationFn: () => CALLS[scope].remove(), onSuccess: useRefetchFactor(scope) });
}

export function useRefetchFactor(scope: AccountScope) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: factorKey(scope) });
}
