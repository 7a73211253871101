import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";
import type { DeliveryFilter } from "../../api/webhook-log";

const FIELDS = ["status", "event", "mode", "responseStatus", "orderReference", "since", "until"] as const;

/** The filter of the log, stored in the URL so that it can be bookmarked. The server validates it. */
export function useLogFilter() {
  const [search, setSearch] = useSearchParams();
  const filter = useMemo(() => {
    const given = FIELDS.map((field) => [field, search.get(field)] as const).filter(([, value]) => value);
    return Object.fromEntries(given) as DeliveryFilter;
  }, [search]);
  const change = useCallback(
    (changed: DeliveryFilter) => {
      const entries = Object.entries({ ...filter, ...changed }).filter(([, value]) => value);
      setSearch(Object.fromEntries(entries) as Record<string, string>, { replace: true });
    },
    [filter, setSearch],
  );
  const clear = useCallback(() => setSearch({}, { replace: true }), [setSearch]);
  return { filter, change, clear, count: Object.keys(filter).length };
}
