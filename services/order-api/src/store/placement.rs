//! Places and releases orders. Placing takes many orders at once, for write batches.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, Integer, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use outbox::{PreparedMessages, enqueue_stored};
use postgres::brief_locks;

use super::StoreError;
use super::rows::TakeOverRow;
use super::schema::orders;
use super::timeline::{self, first_events};
use crate::domain::{ExistingOrder, NewOrder, OrderEvent, OrderSummary, Placement};

/// Parameters: messages, events, orders, placement. Messages and events depend on their orders. Locks rows in the order of
/// their ids, so that two batches cannot deadlock. `updated_at` follows the rule of `fleet::changed_at`. The placement is a
/// parameter, so that the plan finds the rows by their keys: the index of pending orders keeps dead entries while an old
/// snapshot is in use, such as a backup's.
const PLACE: &str = concat!(
    brief_locks!(),
    ",
    pending AS MATERIALIZED (
        SELECT orders.id, orders.business_id, paid.placed_at
        FROM limits
        CROSS JOIN unnest($18, $19, $20, $21) AS paid (id, business_id, attempt, placed_at)
        JOIN orders ON orders.id = paid.id AND orders.business_id = paid.business_id
        WHERE orders.attempt = paid.attempt AND orders.placement = $22
        ORDER BY orders.id
        FOR UPDATE OF orders
    ),
    stored AS (
        UPDATE orders
        SET placement = 'placed', pending_since = NULL, sequence = 1,
            updated_at = greatest(pending.placed_at, transaction_timestamp())
        FROM pending
        WHERE orders.id = pending.id AND orders.business_id = pending.business_id
        RETURNING orders.id
    ),
    timeline AS (",
    first_events!(),
    ")
    ",
    enqueue_stored!(),
);

/// Places pending orders, each only if the paid attempt is its current one, and stores their events. The others were
/// placed before.
pub async fn place(
    mut conn: &AsyncPgConnection,
    paid: &[(OrderSummary, i32)],
    events: &[OrderEvent],
    messages: PreparedMessages,
) -> Result<(), StoreError> {
    let texts =
        |text: fn(&OrderSummary) -> String| paid.iter().map(|(order, _)| text(order)).collect::<Vec<_>>();
    let place = timeline::bind(messages.bind_to(PLACE), events)
        .bind::<Array<Text>, _>(texts(|order| order.id.to_string()))
        .bind::<Array<Text>, _>(texts(|order| order.business_id.to_string()))
        .bind::<Array<Integer>, _>(paid.iter().map(|(_, attempt)| *attempt).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(paid.iter().map(|(order, _)| order.updated_at).collect::<Vec<_>>())
        .bind::<Text, _>(Placement::PendingPayment.as_str());
    place.execute(&mut conn).await?;
    messages.enqueued();
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
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let taken = diesel::update(orders::table)
        .filter(orders::id.eq(released.order_id.to_string()))
        .filter(orders::business_id.eq(released.business_id.to_string()))
        .filter(orders::attempt.eq(released.attempt))
        .filter(orders::placement.eq(Placement::Released.as_str()))
        .set(TakeOverRow::new(new, released.attempt + 1, now))
        .execute(conn)
        .await;
    match taken {
        Ok(count) => Ok(count == 1),
        Err(error) if postgres::violates(&error, "orders_idempotency_key") => Ok(false),
        Err(error) => Err(error.into()),
    }
}
