import type { Export } from "../api/exports";
import { formatNumber } from "./region";

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

/** The percentage is an estimate, because the number of rows is not known before the end. */
export function progressOf(shown: Export): string {
  if (shown.state === "waiting") return "Waiting for its turn";
  return `${rowsOf(shown)}, about ${shown.percent}%`;
}
