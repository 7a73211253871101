// Calls of the operator that wait for a second person.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { Approval } from "./types";

const approvalsKey = [...operatorKey, "approvals"] as const;
/** The operator console has no event stream, so it polls. */
const POLL_MS = 30_000;
/** The badge counts up to one page. */
const COUNT_MAX = 100;

export type ApprovalState = Approval["state"];

/** Whether a call answered with a request for approval (202), and changed nothing. */
export function isApproval(given: object): given is Approval {
  return "mayDecide" in given;
}

export function useApprovals(state: ApprovalState | undefined) {
  return useCursorList(
    [...approvalsKey, "list", state],
    (startingAfter) =>
      operatorAnswer(
        api.GET("/v1/operator/approvals", { params: { query: { state, limit: PAGE_SIZE, startingAfter } } }),
      ),
    { pollMs: () => POLL_MS },
  );
}

/** How many requests wait for this person. */
export function useWaitingApprovals(enabled: boolean): number {
  const { data } = useQuery({
    queryKey: [...approvalsKey, "waiting"],
    queryFn: () =>
      operatorAnswer(
        api.GET("/v1/operator/approvals", { params: { query: { state: "pending", limit: COUNT_MAX } } }),
      ),
    select: ({ data }) => data.filter((approval) => approval.mayDecide).length,
    refetchInterval: POLL_MS,
    enabled,
  });
  return data ?? 0;
}

export function useApproval(id: string) {
  return useQuery({
    queryKey: [...approvalsKey, "one", id],
    queryFn: () => operatorAnswer(api.GET("/v1/operator/approvals/{id}", { params: { path: { id } } })),
    refetchInterval: POLL_MS,
  });
}

/** An approval changes a business too, so everything of the console is fetched again. */
function useStep<Input, Output>(act: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    // A rejection can mean that the shown state is stale.
    onSettled: () => client.invalidateQueries({ queryKey: operatorKey }),
    // The response may contain a link that grants access.
    gcTime: 0,
  });
}

export function useApprove(id: string) {
  return useStep((reason: string) =>
    operatorAnswer(
      api.POST("/v1/operator/approvals/{id}/approve", {
        params: { path: { id } },
        body: reason ? { reason } : {},
      }),
    ),
  );
}

export function useReject(id: string) {
  return useStep((reason: string) =>
    operatorAnswer(
      api.POST("/v1/operator/approvals/{id}/reject", { params: { path: { id } }, body: { reason } }),
    ),
  );
}

export function useWithdraw(id: string) {
  return useStep(() =>
    operatorAnswer(api.POST("/v1/operator/approvals/{id}/withdraw", { params: { path: { id } } })),
  );
}

export function useFetchResetLink(id: string) {
  return useStep(() =>
    operatorAnswer(api.POST("/v1/operator/approvals/{id}/reset-link", { params: { path: { id } } })),
  );
}
