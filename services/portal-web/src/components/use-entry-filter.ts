import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";
import type { EntryFilter } from "../api/wallet";
import { endOfDay, startOfDay } from "../format/day";
import { ENTRY_KINDS } from "../format/entry-labels";
import { useValidPeriod } from "./use-valid-period";

/** The fields of the filter: days, not times. */
export interface EntryFields {
  kind?: string;
  from?: string;
  to?: string;
  orderReference?: string;
}

/** The filter, stored in the URL so that it survives a reload and can be bookmarked. */
export function useEntryFilter() {
  const [search, setSearch] = useSearchParams();
  const fields = useMemo(() => read(search), [search]);
  const { kind, orderReference } = fields;
  const { from, to } = useValidPeriod(fields);
  const filter = useMemo(
    () => filterOf({ kind, from, to, orderReference }),
    [kind, from, to, orderReference],
  );
  const change = useCallback(
    (changed: EntryFields) => {
      const given = Object.entries({ ...fields, ...changed }).filter(([, value]) => value);
      setSearch(Object.fromEntries(given), { replace: true, preventScrollReset: true });
    },
    [fields, setSearch],
  );
  const isFiltered = Object.values(fields).some(Boolean);
  return { fields, filter, change, isFiltered };
}

function read(search: URLSearchParams): EntryFields {
  const kind = search.get("kind") ?? "";
  return {
    kind: kind in ENTRY_KINDS ? kind : undefined,
    from: search.get("from") ?? undefined,
    to: search.get("to") ?? undefined,
    orderReference: search.get("orderReference") ?? undefined,
  };
}

function filterOf({ kind, from, to, orderReference }: EntryFields): EntryFilter {
  return { kind, since: startOfDay(from), until: endOfDay(to), orderReference };
}
