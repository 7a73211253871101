// Calls of the operator that wait for a second person.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { operatorAnswer, operatorKey, useMay } from "./operator-session";
import type { Approval } from "./types";

export const approvalsKey = [...operatorKey, "approvals"] as const;
/** The operator console has no event stream, so it polls. */
const POLL_MS = 30_000;
/** The badge counts up to one page. */
const COUNT_MAX = 100;

export type ApprovalState = Approval["state"];

/** Whether a call answered with a request for approval (202), and changed nothing. */
export function isApproval(given: object): given is Approval {
  return "mayDecide" in given;
}

export function useApprovals(state: ApprovalState | undefined, businessId?: string) {
  return useCursorList(
    [...approvalsKey, "list", state, businessId],
    (startingAfter) =>
      operatorAnswer(
        api.GET("/v1/operator/approvals", {
          params: { query: { state, businessId, limit: PAGE_SIZE, startingAfter } },
        }),
      ),
    { pollMs: () => POLL_MS },
  );
}

/** The requests that wait for somebody: for a decision, or for the requester of an approved link. At most a page of each. */
async function readOpen(businessId?: string): Promise<Approval[]> {
  const read = (state: ApprovalState) =>
    operatorAnswer(
      api.GET("/v1/operator/approvals", { params: { query: { state, businessId, limit: COUNT_MAX } } }),
    );
  const [pending, approved] = await Promise.all([read("pending"), read("approved")]);
  return [...pending.data, ...approved.data];
}

/** How many requests wait for this person. */
export function useWaitingApprovals(enabled: boolean): number {
  const { data } = useQuery({
    queryKey: [...approvalsKey, "waiting"],
    queryFn: () => readOpen(),
    select: (open) => open.filter(isForCaller).length,
    refetchInterval: POLL_MS,
    enabled,
  });
  return data ?? 0;
}

function isForCaller({ mayDecide, yours, state, kind }: Approval): boolean {
  return mayDecide || (yours && state === "approved" && kind === "issue_reset_link");
}

/** The open requests about a business. None while they are unknown. */
export function useOpenApprovalsOf(businessId: string): Approval[] {
  const { data } = useQuery({
    queryKey: [...approvalsKey, "of", businessId],
    queryFn: () => readOpen(businessId),
    refetchInterval: POLL_MS,
    enabled: useMay("review_approvals"),
  });
  return data ?? [];
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

/** The session tells the limit. `null`: the setting applies. A higher limit waits for an approval. */
export function useSetApprovalLimit() {
  return useStep((creditsAbovePaise: number | null) =>
    operatorAnswer(api.PUT("/v1/operator/approval-limit", { body: { creditsAbovePaise } })),
  );
}

export function useFetchResetLink(id: string) {
  return useStep(() =>
    operatorAnswer(api.POST("/v1/operator/approvals/{id}/reset-link", { params: { path: { id } } })),
  );
}
