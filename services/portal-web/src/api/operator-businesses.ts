import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { approvalsKey } from "./operator-approvals";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { components, operations } from "./schema";
import { type EntryFilter, hasTotals } from "./wallet";

export type { Business, BusinessDetails, BusinessHealth } from "./types";

type Query = NonNullable<operations["listBusinesses"]["parameters"]["query"]>;
export type BusinessFilter = Pick<Query, "search" | "status" | "subscription">;
export type BusinessChange = components["schemas"]["ChangeBusiness"];

const businessesKey = [...operatorKey, "businesses"] as const;
export const businessKey = (id: string) => [...operatorKey, "business", id] as const;

/** The operator console has no event stream, so it polls. */
const POLL_MS = 15_000;

export function useBusinesses(filter: BusinessFilter) {
  return useCursorList(
    [...businessesKey, filter],
    (startingAfter) =>
      operatorAnswer(
        api.GET("/v1/operator/businesses", {
          params: { query: { ...filter, limit: PAGE_SIZE, startingAfter } },
        }),
      ),
    { pollMs: () => POLL_MS },
  );
}

const NAMED_MAX = 10;

/** The first businesses that a search finds. */
export function useBusinessesNamed(search: string) {
  return useQuery({
    enabled: search !== "",
    queryKey: [...businessesKey, "named", search],
    queryFn: () =>
      operatorAnswer(api.GET("/v1/operator/businesses", { params: { query: { search, limit: NAMED_MAX } } })),
  });
}

export function useBusiness(id: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: [...businessKey(id), "details"],
    queryFn: () => operatorAnswer(api.GET("/v1/operator/businesses/{id}", { params: { path: { id } } })),
    refetchInterval: POLL_MS,
  });
}

export function useBusinessHealth(id: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: [...businessKey(id), "health"],
    queryFn: () =>
      operatorAnswer(api.GET("/v1/operator/businesses/{id}/health", { params: { path: { id } } })),
    refetchInterval: POLL_MS,
  });
}

export type OrdersOfBusinessFilter = Pick<
  NonNullable<operations["listOrdersOfBusiness"]["parameters"]["query"]>,
  "mode" | "status"
>;

export function useOrdersOfBusiness(id: string, filter: OrdersOfBusinessFilter) {
  return useCursorList(
    [...businessKey(id), "orders", filter],
    (startingAfter) =>
      operatorAnswer(
        api.GET("/v1/operator/businesses/{id}/orders", {
          params: { path: { id }, query: { ...filter, limit: PAGE_SIZE, startingAfter } },
        }),
      ),
    { pollMs: () => POLL_MS },
  );
}

/** Cash on delivery by order. Every page carries the totals; the first page's are shown. */
export function useCashOfBusiness(id: string) {
  const list = useCursorList([...businessKey(id), "cash"], async (startingAfter) => {
    const query = { limit: PAGE_SIZE, startingAfter };
    const call = api.GET("/v1/operator/businesses/{id}/cod", { params: { path: { id }, query } });
    const page = await operatorAnswer(call);
    return { ...page, data: page.data.map((cash) => ({ ...cash, id: cash.orderId })) };
  });
  const first = list.data?.pages[0] as { totals?: components["schemas"]["CashTotals"] } | undefined;
  return { ...list, totals: first?.totals };
}

/** The cash of one order; `null` if there is none. */
export function useCashOfOrder(id: string, orderId: string, enabled: boolean) {
  return useQuery({
    enabled,
    queryKey: [...businessKey(id), "cash", orderId],
    queryFn: async () => {
      const params = { path: { id }, query: { orderId, limit: 1 } };
      const page = await operatorAnswer(api.GET("/v1/operator/businesses/{id}/cod", { params }));
      return page.data[0] ?? null;
    },
    refetchInterval: POLL_MS,
  });
}

export function useBusinessUsers(id: string) {
  return useCursorList([...businessKey(id), "users"], (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/businesses/{id}/users", {
        params: { path: { id }, query: { limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

export function useBusinessAuditLog(id: string) {
  return useCursorList([...businessKey(id), "audit-log"], (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/businesses/{id}/audit-log", {
        params: { path: { id }, query: { limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

/** Invalidates the business and the list after each change. */
function useBusinessMutation<Input, Output>(id: string, act: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    // A rejection can mean that the shown data is stale.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: businessKey(id) }),
        // The call may wait for an approval, or end a request.
        client.invalidateQueries({ queryKey: approvalsKey }),
        client.invalidateQueries({ queryKey: businessesKey }),
      ]),
    // The response may contain a link that grants access.
    gcTime: 0,
  });
}

export function useChangeBusiness(id: string) {
  return useBusinessMutation(id, (body: BusinessChange) =>
    operatorAnswer(api.PATCH("/v1/operator/businesses/{id}", { params: { path: { id } }, body })),
  );
}

export function useChangeContactOf(id: string) {
  return useBusinessMutation(id, (body: components["schemas"]["ChangeContact"]) =>
    operatorAnswer(api.PUT("/v1/operator/businesses/{id}/contact", { params: { path: { id } }, body })),
  );
}

/** Notes of the staff, newest first. */
export function useStaffNotes(id: string) {
  return useCursorList([...businessKey(id), "notes"], (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/businesses/{id}/notes", {
        params: { path: { id }, query: { limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

export function useAddStaffNote(id: string) {
  return useBusinessMutation(id, (text: string) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/notes", { params: { path: { id } }, body: { text } }),
    ),
  );
}

/** Refuses its approval, or live access. */
export function useRefuseBusiness(id: string) {
  return useBusinessMutation(id, (reason: string) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/refusal", { params: { path: { id } }, body: { reason } }),
    ),
  );
}

/** What is open, and whether the business is being closed. */
export function useClosingOf(id: string) {
  return useQuery({
    queryKey: [...businessKey(id), "closing"],
    queryFn: () =>
      operatorAnswer(api.GET("/v1/operator/businesses/{id}/closing", { params: { path: { id } } })),
    refetchInterval: POLL_MS,
  });
}

export function useBeginClosingOf(id: string) {
  return useBusinessMutation(id, (reason: string) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/closing", { params: { path: { id } }, body: { reason } }),
    ),
  );
}

export function useWithdrawClosingOf(id: string) {
  return useBusinessMutation(id, () =>
    operatorAnswer(api.DELETE("/v1/operator/businesses/{id}/closing", { params: { path: { id } } })),
  );
}

export function useCompleteClosing(id: string) {
  return useBusinessMutation(id, () =>
    operatorAnswer(api.POST("/v1/operator/businesses/{id}/closing/complete", { params: { path: { id } } })),
  );
}

export function useCreditWallet(id: string) {
  return useBusinessMutation(id, (body: { amountPaise: number; reference: string }) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/wallet/credits", { params: { path: { id } }, body }),
    ),
  );
}

export function useDebitWallet(id: string) {
  return useBusinessMutation(id, (body: components["schemas"]["DebitWallet"]) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/wallet/debits", { params: { path: { id } }, body }),
    ),
  );
}

export function useBusinessEntries(id: string, filter: EntryFilter) {
  return useCursorList([...businessKey(id), "entries", filter], (startingAfter) =>
    operatorAnswer(
      api.GET("/v1/operator/businesses/{id}/wallet/entries", {
        params: { path: { id }, query: { ...filter, limit: PAGE_SIZE, startingAfter } },
      }),
    ),
  );
}

/** The balances and sums of a period of the statement. */
export function useBusinessTotals(id: string, filter: EntryFilter) {
  const { since, until, kind } = filter;
  return useQuery({
    queryKey: [...businessKey(id), "totals", since, until, kind],
    queryFn: () =>
      operatorAnswer(
        api.GET("/v1/operator/businesses/{id}/wallet/entries/totals", {
          params: { path: { id }, query: { since, until, kind } },
        }),
      ),
    enabled: hasTotals(filter),
  });
}

export function useMakeResetLink(id: string) {
  return useBusinessMutation(id, (email: string) =>
    operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/password-resets", { params: { path: { id } }, body: { email } }),
    ),
  );
}

/** Removes the second factor of a user who has lost it. */
export function useResetUserFactor(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (user: string) =>
      operatorAnswer(
        api.DELETE("/v1/operator/businesses/{id}/users/{user}/second-factor", {
          params: { path: { id, user } },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: [...businessKey(id), "users"] }),
  });
}
