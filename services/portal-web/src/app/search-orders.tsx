import { useQuickSearch } from "../api/orders";
import { orderHit } from "../components/order-hit";
import { SearchButton, type SearchSource } from "../components/search-button";
import { useHasPage } from "./use-has-page";
import { useSearchHint } from "./use-search-hint";

const SOURCE: Pick<SearchSource, "useHits" | "all"> = {
  useHits: (text) => {
    const { data, error } = useQuickSearch(text);
    return { hits: data?.map((order) => orderHit(order, `/orders/${order.id}`)), error };
  },
  all: (text) => `/orders?${new URLSearchParams({ search: text })}`,
};

/** The search of the portal, for roles that see orders. */
export function SearchOrders(props: { hasShortcut?: boolean; isIcon?: boolean }) {
  const hasPage = useHasPage();
  const hint = useSearchHint();
  return hasPage("/orders") ? <SearchButton source={{ ...SOURCE, ...hint }} {...props} /> : null;
}
