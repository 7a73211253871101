import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE } from "./list";
import type { components, operations } from "./schema";
import { deliveriesKey, webhooksKey } from "./webhooks";

type Schemas = components["schemas"];
export type Delivery = Schemas["DeliveryView"];
export type DeliveryDetails = Schemas["ShownDelivery"];
export type Attempt = Omit<Schemas["AttemptView"], "requestHeaders" | "responseHeaders"> & {
  requestHeaders: Record<string, unknown>;
  responseHeaders: Record<string, unknown>;
};
export type DeliveryState = Schemas["DeliveryState"];
export type Redelivery = Schemas["Redelivery"];
export type Recovery = Schemas["RecoveryView"];

type Query = NonNullable<operations["listDeliveries"]["parameters"]["query"]>;
export type DeliveryFilter = Omit<Query, "limit" | "startingAfter">;

const deliveryKey = (id: string) => [...webhooksKey, "delivery", id] as const;
const recoveriesKey = (endpointId: string) => [...webhooksKey, "recoveries", endpointId] as const;

const LOG_POLL_MS = 10_000;
const PENDING_POLL_MS = 2_000;
/** Recoveries are rare, so the latest are enough. */
const RECOVERIES_SHOWN = 10;

/** Follows the log's own cursor: a page can be short or empty while more pages follow. */
export function useDeliveries(endpointId: string, filter: DeliveryFilter) {
  const query = useInfiniteQuery({
    queryKey: [...deliveriesKey(endpointId), filter],
    queryFn: ({ pageParam }) => {
      const params = {
        path: { id: endpointId },
        query: { ...filter, limit: PAGE_SIZE, startingAfter: pageParam },
      };
      return answer(api.GET("/v1/portal/webhook-endpoints/{id}/deliveries", { params }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.hasMore ? (last.continueAfter ?? undefined) : undefined),
    // Polls only the first page, so that reading older entries is not interrupted.
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : LOG_POLL_MS),
  });
  return { ...query, rows: query.data?.pages.flatMap((page) => page.data) ?? [] };
}

export function useDelivery(id: string) {
  return useQuery({
    queryKey: deliveryKey(id),
    queryFn: () => answer(api.GET("/v1/portal/webhook-deliveries/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? PENDING_POLL_MS : false),
  });
}

export function useRedeliver(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answer(api.POST("/v1/portal/webhook-deliveries/{id}/redeliver", { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: webhooksKey }),
  });
}

export function useRecoveries(endpointId: string) {
  return useQuery({
    queryKey: recoveriesKey(endpointId),
    queryFn: () => {
      const params = { path: { id: endpointId }, query: { limit: RECOVERIES_SHOWN } };
      return answer(api.GET("/v1/portal/webhook-endpoints/{id}/recoveries", { params }));
    },
    refetchInterval: ({ state }) =>
      state.data?.data.some((recovery) => recovery.status === "running") ? PENDING_POLL_MS : false,
  });
}

export function useRecover(endpointId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["Recover"]) =>
      answer(
        api.POST("/v1/portal/webhook-endpoints/{id}/recover", { params: { path: { id: endpointId } }, body }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: recoveriesKey(endpointId) }),
  });
}

export function useCancelRecovery(endpointId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (recovery: string) => {
      const params = { path: { id: endpointId, recovery } };
      return answer(api.POST("/v1/portal/webhook-endpoints/{id}/recoveries/{recovery}/cancel", { params }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: recoveriesKey(endpointId) }),
  });
}
