import { useLocalStorage } from "@mantine/hooks";
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";
import type { OrderFilter } from "../../api/orders";
import type { Mode } from "../../api/types";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../format/order-labels";

/** The filter, stored in the URL so that it can be bookmarked. The last used tab is the default. */
export function useOrderFilter() {
  const [search, setSearch] = useSearchParams();
  const [lastMode, setLastMode] = useLocalStorage<Mode>({
    key: "orders-mode",
    defaultValue: "test",
    getInitialValueInEffect: false,
  });
  const filter = useMemo(() => read(search, lastMode), [search, lastMode]);
  const change = useCallback(
    (changed: Partial<OrderFilter>) => {
      const next = { ...filter, ...changed };
      if (changed.mode) setLastMode(changed.mode);
      const entries = Object.entries(next).filter(([, value]) => value);
      setSearch(Object.fromEntries(entries) as Record<string, string>, { replace: true });
    },
    [filter, setSearch, setLastMode],
  );
  return { filter, change };
}

function read(search: URLSearchParams, lastMode: Mode): OrderFilter {
  const mode = search.get("mode");
  const status = search.get("status") ?? "";
  return {
    mode: mode === "live" || mode === "test" ? mode : lastMode === "live" ? "live" : "test",
    status: isStatus(status) ? status : undefined,
    search: search.get("search")?.trim() || undefined,
  };
}

function isStatus(text: string): text is DeliveryStatus {
  return text in DELIVERY_STATUSES;
}
