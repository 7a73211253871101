import { useQuickFind } from "../../api/operator-orders";
import { may } from "../../api/operator-session";
import type { OperatorSession } from "../../api/types";
import { orderHit } from "../../components/order-hit";
import { SearchButton, type SearchSource } from "../../components/search-button";

const SOURCE: SearchSource = {
  useHits: (text) => {
    const { data, error } = useQuickFind(text);
    const hits = data?.map(({ business, order }) =>
      orderHit(order, `/operator/orders?search=${order.id}`, business.name),
    );
    return { hits, error };
  },
  all: (text) => `/operator/orders?${new URLSearchParams({ search: text })}`,
  placeholder: "Name, phone, city, PIN, reference or code",
};

/** The search of the console, for staff who may read orders. */
export function SearchOrders({ session }: { session: OperatorSession }) {
  return may(session, "read_orders") ? <SearchButton source={SOURCE} hasShortcut isIcon /> : null;
}
