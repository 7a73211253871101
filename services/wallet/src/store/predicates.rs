//! Conditions of partial indexes, as literals. With a parameter, a cached plan could not use the index, and each query
//! would read the whole table.

use diesel::sql_types::Bool;
use postgres::{Literal, literal};

/// As in `debits_one_posted_per_order`.
pub(super) fn is_posted() -> Literal<Bool> {
    literal("debits.outcome = 'posted'")
}

/// As in `transfers_one_refund_per_order`.
pub(super) fn is_refund() -> Literal<Bool> {
    literal("transfers.kind = 'refund'")
}

/// Without an index: for queries that read a short range of rows.
pub(super) fn is_fee_or_refund() -> Literal<Bool> {
    literal("transfers.kind IN ('delivery_fee', 'refund')")
}

/// As in `transfers_one_credit_per_reference`.
pub(super) fn is_operator_credit() -> Literal<Bool> {
    literal("transfers.kind = 'operator_credit'")
}

/// As in `transfers_one_debit_per_reference`.
pub(super) fn is_debit_with_reference() -> Literal<Bool> {
    literal(
        "transfers.kind IN ('operator_debit', 'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall')",
    )
}

/// Without an index: after [`is_debit_with_reference`].
pub(super) fn is_operator_debit() -> Literal<Bool> {
    literal("transfers.kind IN ('operator_debit', 'operator_debit_shortfall')")
}

/// Without an index: for a transfer with a known id.
pub(super) fn is_deposit() -> Literal<Bool> {
    literal("transfers.kind IN ('top_up', 'operator_credit', 'refund')")
}

/// As in `transfers_beside_fees`.
pub(super) fn is_not_fee() -> Literal<Bool> {
    literal("transfers.kind <> 'delivery_fee'")
}

/// As in `top_ups_to_check`.
pub(super) fn is_pending_top_up() -> Literal<Bool> {
    literal("top_ups.status = 'pending'")
}

/// As in `top_ups_idempotency_key`.
pub(super) fn has_idempotency_key() -> Literal<Bool> {
    literal("top_ups.idempotency_key IS NOT NULL")
}

/// As in `top_ups_payment_reference`.
pub(super) fn has_payment_reference() -> Literal<Bool> {
    literal("top_ups.payment_reference IS NOT NULL")
}
