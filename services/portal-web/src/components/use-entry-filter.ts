import { useMemo } from "react";
import type { EntryFilter } from "../api/wallet";
import { endOfDay, startOfDay } from "../format/day";
import { ENTRY_KINDS } from "../format/entry-labels";
import { useUrlFilter } from "./use-url-filter";
import { useValidPeriod } from "./use-valid-period";

/** The fields of the filter: days, not times. */
export interface EntryFields {
  kind?: string;
  from?: string;
  to?: string;
  orderReference?: string;
}

const FIELDS = ["kind", "from", "to", "orderReference"] as const;

/** The filter of a statement, in the URL. An unknown kind is none. */
export function useEntryFilter() {
  const { filter: given, change } = useUrlFilter<EntryFields>(FIELDS);
  const kind = given.kind && given.kind in ENTRY_KINDS ? given.kind : undefined;
  const { orderReference } = given;
  const { from, to } = useValidPeriod(given);
  const filter = useMemo(
    (): EntryFilter => ({ kind, since: startOfDay(from), until: endOfDay(to), orderReference }),
    [kind, from, to, orderReference],
  );
  const fields = { ...given, kind };
  return { fields, filter, change, isFiltered: Object.values(fields).some(Boolean) };
}
