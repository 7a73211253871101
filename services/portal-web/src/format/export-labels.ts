import type { Export } from "../api/exports";
import { CASH_STATUSES } from "./cash-labels";
import { COD_STATUSES, DELIVERY_STATUSES, sentence } from "./order-labels";
import { formatNumber } from "./region";
import { statusLabel } from "./status-label";
import { formatDate } from "./time";

export const EXPORT_KINDS: Record<Export["kind"], string> = {
  orders: "Orders",
  cash: "Cash on delivery",
};

export const EXPORT_FORMATS: Record<Export["format"], string> = { csv: "CSV", xlsx: "Excel" };

const FAILURES: Record<NonNullable<Export["failure"]>, string> = {
  too_many_rows: "More than 1,000,000 rows. Choose a shorter period, and export each by itself.",
  too_large: "The Excel sheet would be too large. Choose a shorter period, or export as CSV.",
  refused: "The filter is no longer accepted. Open the list and export it again.",
  unavailable: "The file could not be written. Export the list again later.",
};

export function failureOf(failure: NonNullable<Export["failure"]>): string {
  return FAILURES[failure];
}

export function rowsOf({ rows }: Export): string {
  return `${formatNumber(rows)} ${rows === 1 ? "row" : "rows"}`;
}

const FILTERS: Record<string, (value: string, kind: Export["kind"]) => string> = {
  mode: (value) => `${sentence(value)} orders`,
  status: (value, kind) => statusLabel(kind === "cash" ? CASH_STATUSES : DELIVERY_STATUSES, value).label,
  codStatus: (value) => statusLabel(COD_STATUSES, value).label,
  paymentType: (value) => (value === "cod" ? "Cash on delivery" : sentence(value)),
  late: () => "Late",
  discrepant: () => "Open discrepancies",
  differs: () => "Discrepancies",
};

/** `1 Nov 2026 to 30 Nov 2026, Failed`. Empty if the list had no filter. */
export function filterOf(shown: Export): string {
  const named = Object.entries(shown.filters).map(([name, value]) => FILTERS[name]?.(value, shown.kind));
  return [periodOf(shown), ...named, shown.ofSearch && "Found by a search"].filter(Boolean).join(", ");
}

/** `1 Nov 2026 to 30 Nov 2026`. Empty without days in the filter. */
function periodOf({ since, until }: Export): string {
  const last = until && formatDate(new Date(Date.parse(until) - 1).toISOString());
  if (since) return last ? `${formatDate(since)} to ${last}` : `From ${formatDate(since)}`;
  return last ? `Until ${last}` : "";
}

/** The percentage is an estimate, because the number of rows is not known before the end. */
export function progressOf(shown: Export): string {
  if (shown.state === "waiting") return "Waiting for its turn";
  return `${rowsOf(shown)}, about ${shown.percent}%`;
}
