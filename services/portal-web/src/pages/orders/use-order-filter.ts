import { useLocalStorage } from "@mantine/hooks";
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router-dom";
import type { OrderFilter } from "../../api/orders";
import { useStatus } from "../../api/status";
import type { Mode } from "../../api/types";
import { useSession } from "../../app/session";
import { COD_STATUSES, DELIVERY_STATUSES } from "../../format/order-labels";

/** The filter, stored in the URL so that it can be bookmarked. `null` until the mode is known. */
export function useOrderFilter() {
  const [search, setSearch] = useSearchParams();
  const [lastMode, setLastMode] = useLastMode();
  const wanted = modeOf(search.get("mode")) ?? lastMode;
  const usual = useUsualMode(wanted === undefined);
  const mode = wanted ?? usual;
  const filter = useMemo(() => (mode ? read(search, mode) : null), [search, mode]);
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

/** The tab that was last chosen for this business. */
function useLastMode() {
  const { businessId } = useSession();
  const [text, setMode] = useLocalStorage<string>({
    key: `orders-mode-${businessId}`,
    getInitialValueInEffect: false,
  });
  return [modeOf(text), setMode] as const;
}

/** Live for a business with live access. `undefined` until that is known. */
function useUsualMode(isNeeded: boolean): Mode | undefined {
  const { data: status, error } = useStatus(false, isNeeded);
  if (!status) return error ? "test" : undefined;
  return status.goLive.items.some(({ code, done }) => code === "live_access_active" && done)
    ? "live"
    : "test";
}

function modeOf(text: string | null | undefined): Mode | undefined {
  return text === "live" || text === "test" ? text : undefined;
}

/** Everything but the mode. */
export const NO_FILTER = {
  status: undefined,
  codStatus: undefined,
  paymentType: undefined,
  from: undefined,
  to: undefined,
  search: undefined,
};

export const PAYMENT_TYPES = { cod: "Cash on delivery", prepaid: "Prepaid" };

function read(search: URLSearchParams, mode: Mode): OrderFilter {
  const text = (name: string) => search.get(name)?.trim() || undefined;
  return {
    mode,
    status: oneOf(DELIVERY_STATUSES, text("status")),
    codStatus: oneOf(COD_STATUSES, text("codStatus")),
    paymentType: oneOf(PAYMENT_TYPES, text("paymentType")),
    from: text("from"),
    to: text("to"),
    search: text("search"),
  };
}

function oneOf<Key extends string>(known: Record<Key, unknown>, text: string | undefined): Key | undefined {
  return text && text in known ? (text as Key) : undefined;
}
