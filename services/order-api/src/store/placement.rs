//! Places and releases orders. Placing takes many orders at once, for write batches.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use outbox::{PreparedMessages, enqueue_stored};
use postgres::brief_locks;

use super::predicates::with_keys;
use super::rows::{OrderRow, TakeOverRow};
use super::schema::orders;
use super::{StoreError, timeline};
use crate::domain::{ExistingOrder, NewOrder, Order, OrderEvent, Placement};

/// An order whose debit is posted for this attempt.
#[derive(Clone, Copy, Debug)]
pub struct PaidOrder {
    pub business_id: BusinessId,
    pub order_id: OrderId,
    pub attempt: i32,
}

/// The orders among these that wait for the payment of that attempt, as they will be when they are placed. The others
/// were placed before.
pub async fn about_to_be_placed(
    mut conn: &AsyncPgConnection,
    paid: &[PaidOrder],
    now: DateTime<Utc>,
) -> Result<Vec<Order>, StoreError> {
    let attempts: HashSet<(String, i32)> =
        paid.iter().map(|paid| (paid.order_id.to_string(), paid.attempt)).collect();
    let pending: Vec<(i32, OrderRow)> = orders::table
        .filter(with_keys(paid.iter().map(|paid| (paid.order_id, paid.business_id))))
        .filter(orders::placement.eq(Placement::PendingPayment.as_str()))
        .select((orders::attempt, OrderRow::as_select()))
        .load(&mut conn)
        .await?;
    let mut placed = Vec::with_capacity(pending.len());
    for (attempt, row) in pending {
        let order = Order { sequence: 1, updated_at: now, ..Order::try_from(row)? };
        if attempts.contains(&(order.id.to_string(), attempt)) {
            placed.push(order);
        }
    }
    Ok(placed)
}

/// Parameters: messages, paid attempts, events. Messages and events depend on their orders. Locks rows in the order of
/// their ids, so that two batches cannot deadlock.
const PLACE: &str = concat!(
    brief_locks!(),
    ",
    pending AS MATERIALIZED (
        SELECT orders.id, orders.business_id
        FROM limits
        CROSS JOIN unnest($8, $9, $10) AS paid (id, business_id, attempt)
        JOIN orders ON orders.id = paid.id AND orders.business_id = paid.business_id
        WHERE orders.placement = 'pending_payment' AND orders.attempt = paid.attempt
        ORDER BY orders.id
        FOR UPDATE OF orders
    ),
    stored AS (
        UPDATE orders
        SET placement = 'placed', pending_since = NULL, sequence = 1, updated_at = greatest($7, transaction_timestamp())
        FROM pending
        WHERE orders.id = pending.id AND orders.business_id = pending.business_id
        RETURNING orders.id
    ),
    ",
    timeline::of_stored!("$11, $12, $13, $14, $15, $16, $17, $18, $19, $20"),
    ",
    sent AS (",
    enqueue_stored!(),
    ")
    SELECT event_id, id FROM sent"
);

#[derive(QueryableByName)]
struct SentRow {
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Places pending orders, each only if the paid attempt is its current one, with their first events.
pub async fn place(
    mut conn: &AsyncPgConnection,
    paid: &[PaidOrder],
    events: &[OrderEvent],
    messages: PreparedMessages,
) -> Result<(), StoreError> {
    let place = messages
        .bind_to(PLACE)
        .bind::<Array<Text>, _>(Vec::from_iter(paid.iter().map(|paid| paid.order_id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(paid.iter().map(|paid| paid.business_id.to_string())))
        .bind::<Array<Integer>, _>(Vec::from_iter(paid.iter().map(|paid| paid.attempt)));
    let sent: Vec<SentRow> = timeline::bind(place, events).get_results(&mut conn).await?;
    messages.enqueued(sent.into_iter().map(|row| (row.event_id, row.id)));
    Ok(())
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
