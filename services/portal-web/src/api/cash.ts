import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Cash = Schemas["CashView"];
export type CashTotals = Schemas["CashTotals"];

export interface CashFilter {
  status?: string;
  discrepant?: boolean;
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
