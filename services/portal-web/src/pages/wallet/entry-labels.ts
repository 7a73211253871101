/** Labels of entry kinds. */
export const ENTRY_KINDS: Record<string, string> = {
  delivery_fee: "Delivery fee",
  refund: "Refund",
  top_up: "Top-up",
  operator_credit: "Credit",
};

/** Explanations of entry kinds, for an empty statement. */
export const ENTRY_HINTS: Record<string, string> = {
  delivery_fee: "Each live order is charged its delivery fee.",
  refund: "An order that is cancelled, or fails before its pickup, is refunded.",
  top_up: "Your top-ups appear here.",
  operator_credit: "Credits from your delivery company appear here.",
};
