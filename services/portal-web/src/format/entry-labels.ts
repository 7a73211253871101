/** Labels of entry kinds. */
export const ENTRY_KINDS: Record<string, string> = {
  delivery_fee: "Delivery fee",
  refund: "Refund",
  top_up: "Top-up",
  operator_credit: "Credit",
  operator_debit: "Debit",
  operator_debit_shortfall: "Debt: debit by the delivery company",
  top_up_reversal: "Top-up taken back",
  top_up_reversal_shortfall: "Debt: top-up refunded or charged back",
  receivable_payment: "Payment of a debt",
};

/** Explanations of entry kinds, for an empty statement. */
export const ENTRY_HINTS: Record<string, string> = {
  delivery_fee: "Each live order is charged its delivery fee.",
  refund: "An order that is cancelled, or fails before its pickup, is refunded.",
  top_up: "Your top-ups appear here.",
  operator_credit: "Credits from your delivery company appear here.",
  operator_debit: "Corrections by your delivery company appear here.",
  operator_debit_shortfall: "What your balance does not cover of a debit appears here.",
  top_up_reversal: "Refunds and chargebacks of your top-ups appear here.",
  top_up_reversal_shortfall: "What your balance does not cover of them appears here.",
  receivable_payment: "What you owe is paid from the next top-up, credit or refund.",
};

/** The reference of a debit that took the fee of another attempt at a delivery. */
const ATTEMPT_FEE = /^attempt-\d+-ord_/;

export function entryName(kind: string, reference: string | null | undefined): string {
  if (kind.startsWith("operator_debit") && reference && ATTEMPT_FEE.test(reference)) {
    return kind === "operator_debit" ? "Fee of another attempt" : "Debt: fee of another attempt";
  }
  return ENTRY_KINDS[kind] ?? kind;
}
