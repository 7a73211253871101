//! Conditions that partial indexes repeat, as literals: a parameter would hide from a cached plan that the index applies,
//! and every look-up would read the whole table.

use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::sql_types::Bool;

/// As in `orders_of_business` and `orders_for_fleet`.
pub(super) fn placed() -> SqlLiteral<Bool> {
    sql("orders.placement = 'placed'")
}

/// As in `orders_idempotency_key`.
pub(super) fn still_held() -> SqlLiteral<Bool> {
    sql("orders.placement <> 'released'")
}

/// As in `orders_pending`.
pub(super) fn pending() -> SqlLiteral<Bool> {
    sql("orders.placement = 'pending_payment'")
}

/// As in `orders_for_fleet`.
pub(super) fn live() -> SqlLiteral<Bool> {
    sql("orders.mode = 'live'")
}
