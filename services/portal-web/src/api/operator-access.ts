// The operator's staff, tokens and audit log.
import { type QueryKey, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { operatorAnswer, operatorKey, operatorSessionKey } from "./operator-session";
import type { OperatorRole } from "./types";

const staffKey = [...operatorKey, "staff"] as const;
const tokensKey = [...operatorKey, "tokens"] as const;

export interface OperatorAuditFilter {
  action?: string;
  actor?: string;
  businessId?: string;
  address?: string;
  withoutReads?: boolean;
  since?: string;
  until?: string;
}

/** Responses may contain a link or a secret: only the page that shows it keeps it. */
function useAccessMutation<Input, Output>(key: QueryKey, act: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
    gcTime: 0,
  });
}

export function useStaff() {
  return useCursorList(staffKey, (startingAfter) =>
    operatorAnswer(api.GET("/v1/operator/staff", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
}

export function useInviteStaff() {
  return useAccessMutation(staffKey, (body: { email: string; name: string; role: OperatorRole }) =>
    operatorAnswer(api.POST("/v1/operator/staff", { body })),
  );
}

/** Refetches the session too, because people can change their own role. */
export function useChangeStaffRole() {
  const client = useQueryClient();
  return useAccessMutation(staffKey, async ({ id, role }: { id: string; role: OperatorRole }) => {
    const path = { path: { id } };
    await operatorAnswer(api.PATCH("/v1/operator/staff/{id}", { params: path, body: { role } }));
    await client.invalidateQueries({ queryKey: operatorSessionKey });
  });
}

export function useRemoveStaff() {
  const client = useQueryClient();
  return useAccessMutation(staffKey, async (id: string) => {
    await operatorAnswer(api.DELETE("/v1/operator/staff/{id}", { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: operatorSessionKey });
  });
}

/** Removes the second factor of a person who has lost it. */
export function useResetStaffFactor() {
  return useAccessMutation(staffKey, (id: string) =>
    operatorAnswer(api.DELETE("/v1/operator/staff/{id}/second-factor", { params: { path: { id } } })),
  );
}

export function useEndStaffSessions() {
  return useAccessMutation(staffKey, (id: string) =>
    operatorAnswer(api.DELETE("/v1/operator/staff/{id}/sessions", { params: { path: { id } } })),
  );
}

/** The own name. */
export function useChangeStaffName() {
  const client = useQueryClient();
  return useAccessMutation(staffKey, async (name: string) => {
    await operatorAnswer(api.PUT("/v1/operator/name", { body: { name } }));
    await client.invalidateQueries({ queryKey: operatorSessionKey });
  });
}

/** Removes the link of a person with the identity provider. */
export function useUnlinkIdentity() {
  return useAccessMutation(staffKey, (id: string) =>
    operatorAnswer(api.DELETE("/v1/operator/staff/{id}/identity", { params: { path: { id } } })),
  );
}

export function useStaffLink() {
  return useAccessMutation(staffKey, (id: string) =>
    operatorAnswer(api.POST("/v1/operator/staff/{id}/password-link", { params: { path: { id } } })),
  );
}

export function useOperatorTokens() {
  return useCursorList(tokensKey, (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/tokens", { params: { query: { limit: PAGE_SIZE, startingAfter } } }),
    ),
  );
}

export function useCreateToken() {
  return useAccessMutation(tokensKey, (body: { name: string; role: OperatorRole }) =>
    operatorAnswer(api.POST("/v1/operator/tokens", { body })),
  );
}

export function useRotateToken() {
  return useAccessMutation(tokensKey, ({ id, graceSeconds }: { id: string; graceSeconds: number }) =>
    operatorAnswer(
      api.POST("/v1/operator/tokens/{id}/rotate", { params: { path: { id } }, body: { graceSeconds } }),
    ),
  );
}

export function useDisableToken() {
  return useAccessMutation(tokensKey, (id: string) =>
    operatorAnswer(api.POST("/v1/operator/tokens/{id}/disable", { params: { path: { id } } })),
  );
}

export function useOperatorAuditLog(filter: OperatorAuditFilter) {
  return useCursorList([...operatorKey, "audit-log", filter], (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/audit-log", {
        params: { query: { ...filter, limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

/** The person whose password a link sets. */
export function useStaffOfLink(token: string) {
  return useQuery({
    queryKey: ["staff-link", token],
    queryFn: () => answer(api.POST("/v1/operator/password-links/look-up", { body: { token } })),
    enabled: token !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
}

export function useSetStaffPassword() {
  return useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      answer(api.POST("/v1/operator/password-links/use", { body })),
    gcTime: 0,
  });
}
