import { useQuery } from "@tanstack/react-query";
import { endOfDay, startOfDay } from "../format/day";
import { searchQuery } from "../format/search-day";
import type { Decider, DecisionFilter, ExceptionKind } from "./after-failure";
import { api } from "./client";
import { missingOf, PAGE_SIZE, SEARCH_FRESH_MS, useCursorList } from "./list";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { Evidence, Order } from "./orders";
import type { components } from "./schema";

export type { FoundOrder } from "./types";

type Schemas = components["schemas"];
export type BusinessCash = Schemas["BusinessCash"];
/** An order with its business. */
export type OfBusiness = Order & { business: Schemas["BusinessName"] };
/** An order that needs attention, with its business. */
export type ExceptionOfAll = Schemas["ExceptionOrder"] & { business: Schemas["BusinessName"] };

const TIMELINE_PAGE_SIZE = 100;
/** The operator console has no event stream, so it polls. */
const POLL_MS = 10_000;

/** What the staff searches for: words, a date or a city, and the first and the last day of creation. */
export interface FoundOrdersFilter {
  search?: string | undefined;
  city?: string | undefined;
  status?: Order["status"] | undefined;
  businessId?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

function findOrders(
  { from, to, search, ...filter }: FoundOrdersFilter,
  page: { limit: number; startingAfter?: string },
) {
  const searched = searchQuery(search);
  const query = {
    ...filter,
    ...searched,
    createdFrom: searched.createdFrom ?? startOfDay(from),
    createdUntil: searched.createdUntil ?? endOfDay(to),
    ...page,
  };
  return operatorAnswer(api.GET("/v1/operator/orders", { params: { query } }));
}

/** Whether it has a search, a city, or both days: a status and a business alone find too many orders. */
export function isSearch({ search, city, from, to }: FoundOrdersFilter): boolean {
  return search !== undefined || city !== undefined || (from !== undefined && to !== undefined);
}

/** The orders of any business that a search finds. It is repeated when the staff looks at the page again. */
export function useFoundOrders(filter: FoundOrdersFilter) {
  return useCursorList(
    [...operatorKey, "orders", filter],
    async (startingAfter) => {
      const page = await findOrders(filter, { limit: PAGE_SIZE, ...(startingAfter && { startingAfter }) });
      return { ...page, data: page.data.map((found) => ({ ...found, id: found.order.id })) };
    },
    {
      enabled: isSearch(filter),
      freshMs: SEARCH_FRESH_MS,
    },
  );
}

/** How many orders the search box shows. */
const QUICK_MAX = 8;

/** The first orders that a text finds. */
export function useQuickFind(search: string | undefined) {
  return useQuery({
    queryKey: [...operatorKey, "quick", search],
    queryFn: async () => (await findOrders({ search }, { limit: QUICK_MAX })).data,
    enabled: search !== undefined,
    staleTime: SEARCH_FRESH_MS,
  });
}

/** As `useEvidence`, of an order of any business. */
export function useEvidenceOfAny(id: string, ended: number) {
  return useQuery({
    queryKey: [...operatorKey, "evidence", id, ended],
    enabled: ended > 0,
    queryFn: async (): Promise<Evidence> =>
      operatorAnswer(api.GET("/v1/operator/orders/{id}/evidence", { params: { path: { id } } })),
  });
}

const EXCEPTIONS_POLL_MS = 60_000;

export interface ExceptionsFilter {
  kind: ExceptionKind;
  decision?: DecisionFilter | undefined;
  businessId?: string | undefined;
  /** The beginning of a city or a PIN code. */
  area?: string | undefined;
}

/** Live orders of all businesses, or of one, that need attention. */
export function useExceptionsOfAll(query: ExceptionsFilter) {
  return useQuery({
    queryKey: [...operatorKey, "exceptions", query],
    queryFn: async () => {
      const page = await operatorAnswer(api.GET("/v1/operator/exceptions", { params: { query } }));
      const data = page.data.map(({ business, order }): ExceptionOfAll => ({ ...order, business }));
      return { ...page, data };
    },
    refetchInterval: EXCEPTIONS_POLL_MS,
    placeholderData: (previous) => previous,
  });
}

/** The staff decides for the business of the order. */
export const STAFF_DECIDER: Decider<OfBusiness> = {
  decide: ({ id: order, business: { id } }, { action, date, note, seen }) => {
    const params = { path: { id, order }, query: { seen } };
    if (action === "return") {
      return operatorAnswer(api.POST("/v1/operator/businesses/{id}/orders/{order}/return", { params }));
    }
    if (action === "cancel") return Promise.reject(new Error("the staff cancels no orders"));
    const body = { date, note };
    return operatorAnswer(
      api.POST("/v1/operator/businesses/{id}/orders/{order}/reattempt", { params, body }),
    );
  },
  actions: { failed: ["reattempt", "return"], unassigned: [], stuck: [] },
  changes: operatorKey,
};

export function useOperatorTimeline(id: string) {
  const list = useCursorList(
    [...operatorKey, "timeline", id],
    (startingAfter) => {
      const query = { limit: TIMELINE_PAGE_SIZE, startingAfter };
      return operatorAnswer(api.GET("/v1/operator/orders/{id}/events", { params: { path: { id }, query } }));
    },
    { pollMs: () => POLL_MS },
  );
  return { ...list, missing: missingOf(list.data?.pages) };
}

/** Businesses with outstanding cash. */
export function useCashOfAll() {
  return useCursorList([...operatorKey, "cash"], async (startingAfter) => {
    const query = { limit: PAGE_SIZE, startingAfter };
    const page = await operatorAnswer(api.GET("/v1/operator/cod", { params: { query } }));
    return { ...page, data: page.data.map((cash) => ({ ...cash, id: cash.businessId })) };
  });
}

/** Orders of all businesses with a cash discrepancy. */
export function useDiscrepancies() {
  return useCursorList([...operatorKey, "discrepancies"], async (startingAfter) => {
    const query = { limit: PAGE_SIZE, startingAfter };
    const page = await operatorAnswer(api.GET("/v1/operator/cod/discrepancies", { params: { query } }));
    return { ...page, data: page.data.map((cash) => ({ ...cash, id: cash.orderId })) };
  });
}
