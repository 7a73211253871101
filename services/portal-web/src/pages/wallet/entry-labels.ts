/** Labels of entry kinds. */
export const ENTRY_KINDS: Record<string, string> = {
  delivery_fee: "Delivery fee",
  refund: "Refund",
  top_up: "Top-up",
  operator_credit: "Credit",
  operator_debit: "Debit",
  top_up_reversal: "Top-up taken back",
  receivable_payment: "Payment of what you owed",
};

/** Explanations of entry kinds, for an empty statement. */
export const ENTRY_HINTS: Record<string, string> = {
  delivery_fee: "Each live order is charged its delivery fee.",
  refund: "An order that is cancelled, or fails before its pickup, is refunded.",
  top_up: "Your top-ups appear here.",
  operator_credit: "Credits from your delivery company appear here.",
  operator_debit: "Corrections by your delivery company appear here.",
  top_up_reversal: "Refunds and chargebacks of your top-ups appear here.",
  receivable_payment: "What you owe is paid from the next top-up, credit or refund.",
};
