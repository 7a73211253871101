import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";

/** A filter of these fields, stored in the URL so that it can be bookmarked. The server validates it. */
export function useUrlFilter<Filter extends object>(fields: readonly (keyof Filter & string)[]) {
  const [search, setSearch] = useSearchParams();
  const filter = useMemo(() => {
    const given = fields.map((field) => [field, search.get(field)?.trim()] as const);
    return Object.fromEntries(given.filter(([, value]) => value)) as Filter;
  }, [search, fields]);
  const change = useCallback(
    (changed: Filter) => {
      const entries = Object.entries({ ...filter, ...changed }).filter(([, value]) => value);
      setSearch(Object.fromEntries(entries) as Record<string, string>, {
        replace: true,
        preventScrollReset: true,
      });
    },
    [filter, setSearch],
  );
  const clear = useCallback(() => setSearch({}, { replace: true }), [setSearch]);
  return { filter, change, clear, count: Object.keys(filter).length };
}
