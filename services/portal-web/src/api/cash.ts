import { useQuery } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Cash = Schemas["CashView"];
export type CashTotals = Schemas["CashTotals"];
export type CashMonth = Schemas["CashMonthView"];
export type RemittedOrder = Schemas["RemittedOrderView"];

export interface CashFilter {
  status?: string;
  /** Only orders with a difference, also one that the operator has closed. */
  differs?: boolean;
  /** Only orders with a discrepancy that the operator has not closed. */
  discrepant?: boolean;
  late?: boolean;
}

export const cashKey = ["cash"] as const;

/** Cash on delivery by order. Every page carries the totals; the first page's are shown. */
export function useCash(filter: CashFilter) {
  const list = useCursorList([...cashKey, filter], async (startingAfter) => {
    const query = { ...filter, limit: PAGE_SIZE, startingAfter };
    const page = await answer(api.GET("/v1/portal/cod", { params: { query } }));
    // The list pages by order id.
    return { ...page, data: page.data.map((cash) => ({ ...cash, id: cash.orderId })) };
  });
  const first = list.data?.pages[0] as { totals?: CashTotals } | undefined;
  return { ...list, totals: first?.totals };
}

/** The cash of one order; null if the order has none. */
export function useCashOfOrder(orderId: string, enabled: boolean) {
  return useQuery({
    enabled,
    queryKey: [...cashKey, "order", orderId],
    queryFn: async () => {
      const query = { orderId, limit: 1 };
      return (await answer(api.GET("/v1/portal/cod", { params: { query } }))).data[0] ?? null;
    },
  });
}

/** Cash by the month of the delivery, newest first. */
export function useCashMonths() {
  return useQuery({
    queryKey: [...cashKey, "months"],
    queryFn: () => answer(api.GET("/v1/portal/cod/months")),
  });
}

/** Bank transfers of the operator, newest first. */
export function useRemittances() {
  return useCursorList([...cashKey, "remittances"], (startingAfter) => {
    const query = { limit: PAGE_SIZE, startingAfter };
    return answer(api.GET("/v1/portal/remittances", { params: { query } }));
  });
}

export function useRemittance(id: string) {
  return useQuery({
    queryKey: [...cashKey, "remittance", id],
    queryFn: () => answer(api.GET("/v1/portal/remittances/{id}", { params: { path: { id } } })),
  });
}
