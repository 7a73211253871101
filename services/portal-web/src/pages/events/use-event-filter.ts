import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";
import type { EventFilter } from "../../api/events";
import { eventLabel, ORDER_EVENTS } from "../../format/event-labels";

const FIELDS = ["search", "event", "mode"] as const;

/** The filter, stored in the URL so that it can be bookmarked. The server validates it. */
export function useEventFilter() {
  const [search, setSearch] = useSearchParams();
  const filter = useMemo(() => {
    const given = FIELDS.map((field) => [field, search.get(field)?.trim()] as const);
    return Object.fromEntries(given.filter(([, value]) => value)) as EventFilter;
  }, [search]);
  const change = useCallback(
    (changed: EventFilter) => {
      const entries = Object.entries({ ...filter, ...changed }).filter(([, value]) => value);
      setSearch(Object.fromEntries(entries) as Record<string, string>, { replace: true });
    },
    [filter, setSearch],
  );
  const clear = useCallback(() => setSearch({}, { replace: true }), [setSearch]);
  return { filter, change, clear, count: Object.keys(filter).length };
}

export const KINDS = [
  { value: "", label: "Any event" },
  ...ORDER_EVENTS.map((kind) => ({ value: kind, label: eventLabel(kind) })),
];

export const MODES = [
  { value: "", label: "Live and test" },
  { value: "live", label: "Live" },
  { value: "test", label: "Test" },
];
