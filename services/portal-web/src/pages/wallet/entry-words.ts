/** What moves money, in words. */
export const ENTRY_KINDS: Record<string, string> = {
  delivery_fee: "Delivery fee",
  refund: "Refund",
  top_up: "Top-up",
  operator_credit: "Credit",
};

/** What each is for, where the statement shows nothing of it. */
export const ENTRY_HINTS: Record<string, string> = {
  delivery_fee: "Each live order takes its delivery fee.",
  refund: "An order cancelled, or failed before its pickup, gives its fee back.",
  top_up: "Money that you pay in appears here.",
  operator_credit: "Money that your delivery company puts in appears here.",
};
