//! Places and releases orders. Placing takes many orders at once, for write batches.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};

use super::StoreError;
use super::fleet::changed_at;
use super::predicates::with_keys;
use super::rows::{OrderRow, TakeOverRow};
use super::schema::orders;
use crate::domain::{ExistingOrder, NewOrder, Order, Placement};

/// An order whose debit is posted for this attempt.
#[derive(Clone, Copy, Debug)]
pub struct PaidOrder {
    pub business_id: BusinessId,
    pub order_id: OrderId,
    pub attempt: i32,
}

/// Places pending orders, each only if the paid attempt is its current one. Returns the orders that it placed; the
/// others were placed before.
pub async fn place(
    mut conn: &AsyncPgConnection,
    paid: &[PaidOrder],
    now: DateTime<Utc>,
) -> Result<Vec<Order>, StoreError> {
    // Locks rows in the order of their ids, so that two batches cannot deadlock.
    let pending: Vec<(String, i32)> = orders::table
        .filter(with_keys(paid.iter().map(|paid| (paid.order_id, paid.business_id))))
        .filter(orders::placement.eq(Placement::PendingPayment.as_str()))
        .select((orders::id, orders::attempt))
        .order(orders::id)
        .for_update()
        .load(&mut conn)
        .await?;
    let pending: HashSet<(String, i32)> = pending.into_iter().collect();
    let placing: Vec<_> = paid
        .iter()
        .filter(|paid| pending.contains(&(paid.order_id.to_string(), paid.attempt)))
        .map(|paid| (paid.order_id, paid.business_id))
        .collect();
    if placing.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<OrderRow> = diesel::update(orders::table)
        .filter(with_keys(placing.into_iter()))
        .set((
            orders::placement.eq(Placement::Placed.as_str()),
            orders::pending_since.eq(None::<DateTime<Utc>>),
            orders::sequence.eq(1),
            orders::updated_at.eq(changed_at(now)),
        ))
        .returning(OrderRow::as_returning())
        .get_results(&mut conn)
        .await?;
    rows.into_iter().map(Order::try_from).collect()
}

/// Frees the reference and key of an order whose debit was rejected or voided. False when the order has changed
/// meanwhile.
pub async fn release(
    conn: &mut AsyncPgConnection,
    order: &ExistingOrder,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let released = diesel::update(orders::table)
        .filter(orders::id.eq(order.order_id.to_string()))
        .filter(orders::business_id.eq(order.business_id.to_string()))
        .filter(orders::attempt.eq(order.attempt))
        .filter(orders::placement.eq(Placement::PendingPayment.as_str()))
        .set((
            orders::placement.eq(Placement::Released.as_str()),
            orders::pending_since.eq(None::<DateTime<Utc>>),
            orders::updated_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(released == 1)
}

/// Reuses a released order for a new request with its reference, with the next attempt. False when another request was
/// faster, or when another order has the new key.
pub async fn take_over(
    conn: &mut AsyncPgConnection,
    released: &ExistingOrder,
    new: &NewOrder,
) -> Result<bool, StoreError> {
    let taken = diesel::update(orders::table)
        .filter(orders::id.eq(released.order_id.to_string()))
        .filter(orders::business_id.eq(released.business_id.to_string()))
        .filter(orders::attempt.eq(released.attempt))
        .filter(orders::placement.eq(Placement::Released.as_str()))
        .set(TakeOverRow::new(new, released.attempt + 1))
        .execute(conn)
        .await;
    match taken {
        Ok(count) => Ok(count == 1),
        Err(error) if postgres::violates(&error, "orders_idempotency_key") => Ok(false),
        Err(error) => Err(error.into()),
    }
}
