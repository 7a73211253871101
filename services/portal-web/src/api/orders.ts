import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { endOfDay, startOfDay } from "../format/day";
import { searchQuery } from "../format/search-day";
import { answer, api } from "./client";
import { useEventStream } from "./event-stream";
import { missingOf, PAGE_SIZE, SEARCH_FRESH_MS, useCursorList } from "./list";
import { isListed, type OrderPages, type OrderUpdate, withNewest, withUpdate } from "./orders-live";
import { refetchQuery } from "./refetch";
import type { components } from "./schema";
import type { Mode } from "./types";

type Schemas = components["schemas"];
export type Order = Schemas["ShownOrder"];
export type SimulatedOrder = Schemas["ShownSimulation"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type Evidence = Schemas["ShownEvidence"];

export interface OrderFilter {
  mode: Mode;
  status?: Order["status"];
  codStatus?: Order["codStatus"];
  paymentType?: Order["payment"]["paymentType"];
  /** The first and the last day of creation. */
  from?: string;
  to?: string;
  /** Words of the customer or the order, an id, a code or a date. */
  search?: string;
}

export const ordersKey = ["orders"] as const;
const listKey = (filter: OrderFilter) => [...ordersKey, "list", filter] as const;
const orderKey = (id: string) => [...ordersKey, "one", id] as const;
const timelineKey = (id: string) => [...ordersKey, "timeline", id] as const;

/** Polling intervals with and without an open stream. With one, polling only makes up for lost events. */
const POLL_WITH_STREAM_MS = 60_000;
const POLL_WITHOUT_STREAM_MS = 5_000;
/** Limits reads of the first page when many orders arrive. */
const MERGE_PAUSE_MS = 500;
const TIMELINE_PAGE_SIZE = 100;

/** The filter in the words of the calls. */
export function queryOf({ from, to, search, ...filter }: OrderFilter) {
  const searched = searchQuery(search);
  return {
    ...filter,
    ...searched,
    createdFrom: searched.createdFrom ?? startOfDay(from),
    createdUntil: searched.createdUntil ?? endOfDay(to),
  };
}

function readOrders(filter: OrderFilter, startingAfter?: string) {
  const query = { ...queryOf(filter), limit: PAGE_SIZE, startingAfter };
  return answer(api.GET("/v1/portal/orders", { params: { query } }));
}

/** How many orders the search box shows. */
const QUICK_MAX = 8;

/** The newest orders that a search finds: in both modes, or in one. */
export function useQuickSearch(search: string | undefined, mode?: Mode, enabled = true) {
  return useQuery({
    queryKey: [...ordersKey, "quick", search, mode],
    enabled: search !== undefined && enabled,
    staleTime: SEARCH_FRESH_MS,
    queryFn: async () => {
      const query = { ...searchQuery(search), mode, limit: QUICK_MAX };
      return (await answer(api.GET("/v1/portal/orders", { params: { query } }))).data;
    },
  });
}

/** A live list of orders. Only the user repeats a search for a text, or looks at the page again; known orders stay live. */
export function useLiveOrders(filter: OrderFilter) {
  const client = useQueryClient();
  const isSearch = filter.search !== undefined;
  const read = (startingAfter: string | undefined) => readOrders(filter, startingAfter);
  const list = useCursorList(listKey(filter), read, isSearch ? { freshMs: SEARCH_FRESH_MS } : {});
  const mergeSoon = useThrottled(() => isSearch || mergeNewest(client, filter));
  const isStreaming = useOrderStream(filter.mode, (update) => {
    const queryKey = listKey(filter);
    const known = client.getQueryData<OrderPages>(queryKey);
    const isKnown = update && known && isListed(known, update.id);
    if (isKnown) client.setQueryData(queryKey, withUpdate(known, update));
    // A running fetch may have read the order before this change.
    if (!isKnown || client.isFetching({ queryKey }) > 0) mergeSoon();
  });
  usePolling(mergeSoon, isStreaming ? POLL_WITH_STREAM_MS : POLL_WITHOUT_STREAM_MS);
  return { ...list, isStreaming };
}

/** Streams the updates of orders of one mode or both; `null` means that some may have been missed. */
export function useOrderStream(
  mode: Mode | undefined,
  onUpdate: (update: OrderUpdate | null) => void,
): boolean {
  return useEventStream(`/v1/portal/orders/stream${mode ? `?mode=${mode}` : ""}`, "order", (data) => {
    onUpdate(data === null ? null : (JSON.parse(data) as OrderUpdate));
  });
}

async function mergeNewest(client: QueryClient, filter: OrderFilter) {
  const key = listKey(filter);
  try {
    const newest = await readOrders(filter);
    const known = client.getQueryData<OrderPages>(key);
    const merged = known && withNewest(known, newest);
    if (!merged) await refetchQuery(client, key);
    // To set the same list would remove the error of “Show more”.
    else if (merged !== known) client.setQueryData(key, merged);
  } catch {
    // The list's own query shows the error and can be retried.
    await refetchQuery(client, key);
  }
}

/** Throttles `act`: all calls within the pause run it once. */
function useThrottled(act: () => unknown): () => void {
  const timer = useRef<number | undefined>(undefined);
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  }, [act]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, MERGE_PAUSE_MS);
  }, []);
}

function usePolling(act: () => void, everyMs: number) {
  useEffect(() => {
    const timer = window.setInterval(act, everyMs);
    return () => window.clearInterval(timer);
  }, [act, everyMs]);
}

export function useOrder(id: string) {
  return useQuery({
    queryKey: orderKey(id),
    queryFn: () => answer(api.GET("/v1/portal/orders/{id}", { params: { path: { id } } })),
  });
}

/** The order's timeline, polled while it can still change. */
export function useTimeline(id: string, pollMs: (entries: TimelineEntry[]) => number | false) {
  const list = useCursorList(
    timelineKey(id),
    (startingAfter) => {
      const query = { limit: TIMELINE_PAGE_SIZE, startingAfter };
      return answer(api.GET("/v1/portal/orders/{id}/events", { params: { path: { id }, query } }));
    },
    { pollMs },
  );
  return { ...list, missing: missingOf(list.data?.pages) };
}

/** Keeps an order and its timeline up to date by the stream, which opens before the order's mode is known. */
export function useFollowOrder(id: string) {
  const client = useQueryClient();
  useOrderStream(undefined, (update) => {
    if (update === null || update.id === id) invalidateOrder(client, id);
  });
}

function invalidateOrder(client: QueryClient, id: string) {
  void refetchQuery(client, orderKey(id));
  void refetchQuery(client, timelineKey(id));
}

export function useAcceptedRequest(id: string) {
  return useQuery({
    queryKey: [...ordersKey, "request", id],
    queryFn: () => answer(api.GET("/v1/portal/orders/{id}/request", { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The evidence of the attempts that have ended, of which the timeline has this number. */
export function useEvidence(id: string, ended: number) {
  return useQuery({
    queryKey: [...ordersKey, "evidence", id, ended],
    enabled: ended > 0,
    queryFn: () => answer(api.GET("/v1/portal/orders/{id}/evidence", { params: { path: { id } } })),
  });
}

/** The code that the customer tells the driver. Repeating the call returns the same one. */
export function useDeliveryCode(id: string) {
  return useMutation({
    mutationFn: () => answer(api.POST("/v1/portal/orders/{id}/delivery-code", { params: { path: { id } } })),
  });
}

/** Invalidates the order, its timeline and the lists after each change. */
function useOrderChange<Input, Output>(id: string, change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => {
      invalidateOrder(client, id);
      client.invalidateQueries({ queryKey: [...ordersKey, "list"] });
    },
  });
}

/** Simulates one event, or with `auto` the rest of the delivery. */
export function useSimulate(id: string) {
  return useOrderChange(id, (event: string) =>
    answer(api.POST("/v1/portal/orders/{id}/simulate", { params: { path: { id } }, body: { event } })),
  );
}

export function cancelOrder(id: string, reason: string) {
  return answer(
    api.POST("/v1/portal/orders/{id}/cancel", {
      params: { path: { id } },
      body: reason === "" ? {} : { reason },
    }),
  );
}

export function useCancelOrder(id: string) {
  return useOrderChange(id, (reason: string) => cancelOrder(id, reason));
}
