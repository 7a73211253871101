//! Conditions that partial indexes repeat, as literals: a parameter would hide from a cached plan that the index applies,
//! and every look-up would read the whole table.

use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::sql_types::Bool;

/// As in `debits_one_posted_per_order`.
pub(super) fn is_posted() -> SqlLiteral<Bool> {
    sql("debits.outcome = 'posted'")
}

/// As in `transfers_one_refund_per_order`.
pub(super) fn is_refund() -> SqlLiteral<Bool> {
    sql("transfers.kind = 'refund'")
}

/// As in `transfers_one_credit_per_reference`.
pub(super) fn is_operator_credit() -> SqlLiteral<Bool> {
    sql("transfers.kind = 'operator_credit'")
}

/// As in `transfers_beside_fees`.
pub(super) fn is_no_fee() -> SqlLiteral<Bool> {
    sql("transfers.kind <> 'delivery_fee'")
}

/// As in `top_ups_to_check`.
pub(super) fn is_pending_top_up() -> SqlLiteral<Bool> {
    sql("top_ups.status = 'pending'")
}

/// As in `top_ups_idempotency_key`.
pub(super) fn has_idempotency_key() -> SqlLiteral<Bool> {
    sql("top_ups.idempotency_key IS NOT NULL")
}

/// As in `cash_discrepant` and `cash_discrepant_of_a_business`.
pub(super) fn is_discrepant_cash() -> SqlLiteral<Bool> {
    sql("cash.discrepant")
}
