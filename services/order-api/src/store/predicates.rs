//! Conditions of partial indexes. They are literals: with a parameter, a cached plan could not use the index, and each
//! query would read the whole table.

use diesel::dsl::Eq;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use domain::{BusinessId, OrderId};
use postgres::{Literal, OneOf, literal, one_of};

use super::schema::orders;

diesel::define_sql_function! {
    /// Unicode's composed form.
    fn normalize(text: Text) -> Text;
}

/// Orders by their primary keys.
pub(super) fn with_keys(keys: impl Iterator<Item = (OrderId, BusinessId)>) -> OneOf {
    let keys = keys.map(|(order, business)| (order.to_string(), business.to_string()));
    one_of("(orders.id, orders.business_id)", keys)
}

/// As in `orders_reference_key`.
pub(super) fn has_reference(reference: &str) -> Eq<normalize<orders::order_reference>, normalize<String>> {
    normalize(orders::order_reference).eq(normalize(reference.to_owned()))
}

/// As in `orders_of_business` and `orders_for_fleet`.
pub(super) fn placed() -> Literal<Bool> {
    literal("orders.placement = 'placed'")
}

/// As in `orders_idempotency_key`.
pub(super) fn holds_key() -> Literal<Bool> {
    literal("orders.placement <> 'released'")
}

/// As in `orders_pending`.
pub(super) fn pending() -> Literal<Bool> {
    literal("orders.placement = 'pending_payment'")
}

/// As in `orders_for_fleet`.
pub(super) fn live() -> Literal<Bool> {
    literal("orders.mode = 'live'")
}

/// As in `orders_to_erase`.
pub(super) fn to_erase() -> Literal<Bool> {
    literal(
        "orders.personal_data_erased_at IS NULL AND (orders.status IN ('delivered', 'failed', 'cancelled', 'returned') \
         OR orders.placement = 'released' OR orders.mode = 'test')",
    )
}

pub(super) fn not_erased() -> Literal<Bool> {
    literal("orders.personal_data_erased_at IS NULL")
}

/// As in `erasures_running`.
pub(super) fn erasure_running() -> Literal<Bool> {
    literal("erasures.completed_at IS NULL")
}
