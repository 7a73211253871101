//! The events of orders.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Jsonb, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId, OrderId};
use postgres::{Statement, statement};

use super::StoreError;
use super::rows::OrderEventRow;
use super::schema::order_events;
use crate::domain::OrderEvent;

/// A position in a timeline: a time, and the id of any entry to order entries of the same time.
#[derive(Clone, Debug)]
pub struct Position {
    pub at: DateTime<Utc>,
    pub id: String,
}

const APPEND: &str = "
    INSERT INTO order_events (
        order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at, feed_at)
    SELECT new.*, greatest(clock_timestamp(), (
        SELECT previous.feed_at FROM order_events AS previous
        WHERE previous.order_id = new.order_id AND previous.sequence < new.sequence
            AND previous.business_id = new.business_id
        ORDER BY previous.sequence DESC
        LIMIT 1))
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS new (
        order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)";

/// Adds events. In the feed, each follows its predecessor, even when the database's clock was set back. The `ORDER BY`
/// makes the planner use the primary key: without statistics, an index of the business would cost the same. The primary
/// key also ensures that each sequence number is used once.
pub async fn append(mut conn: &AsyncPgConnection, events: &[OrderEvent]) -> Result<(), StoreError> {
    bind(statement(APPEND), events).execute(&mut conn).await?;
    Ok(())
}

/// The part of a statement that stores the first events of its part `stored`, which has a column `id`. Their
/// [columns](bind) are the parameters `$8` to `$17`, after those of [`enqueue_stored!`](outbox::enqueue_stored).
macro_rules! first_events {
    () => {
        "INSERT INTO order_events (
            order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
        SELECT new.*
        FROM unnest($8, $9, $10, $11, $12, $13, $14, $15, $16, $17) AS new (
            order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
        JOIN stored ON stored.id = new.order_id"
    };
}
pub(super) use first_events;

/// Binds the columns of the events, in the order of [`APPEND`].
pub(super) fn bind<'a>(to: Statement<'a>, events: &'a [OrderEvent]) -> Statement<'a> {
    let texts = |text: fn(&OrderEvent) -> String| events.iter().map(text).collect::<Vec<_>>();
    to.bind::<Array<Text>, _>(texts(|event| event.order_id.to_string()))
        .bind::<Array<BigInt>, _>(events.iter().map(|event| event.sequence).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(texts(|event| event.id.to_string()))
        .bind::<Array<Text>, _>(texts(|event| event.business_id.to_string()))
        .bind::<Array<Text>, _>(texts(|event| event.kind.to_string()))
        .bind::<Array<Text>, _>(texts(|event| event.status.to_string()))
        .bind::<Array<Text>, _>(texts(|event| event.cod_status.to_string()))
        .bind::<Array<Jsonb>, _>(events.iter().map(|event| &event.data).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(events.iter().map(|event| event.occurred_at).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(events.iter().map(|event| event.recorded_at).collect::<Vec<_>>())
}

/// The events of an order after `after`, by sequence. Their recorded times increase with the sequence.
pub async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    after: Option<&Position>,
    limit: usize,
) -> Result<Vec<OrderEvent>, StoreError> {
    let mut query = order_events::table
        .filter(order_events::order_id.eq(order.to_string()))
        .filter(order_events::business_id.eq(business.to_string()))
        .order(order_events::sequence)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(OrderEventRow::as_select())
        .into_boxed();
    if let Some(after) = after {
        let later = order_events::recorded_at.gt(after.at);
        let same = order_events::recorded_at.eq(after.at).and(order_events::event_id.gt(&after.id));
        query = query.filter(later.or(same));
    }
    let rows: Vec<OrderEventRow> = query.load(conn).await?;
    rows.into_iter().map(OrderEvent::try_from).collect()
}

/// The recorded time of an event of this order.
pub async fn recorded_at(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    event: EventId,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let recorded_at = order_events::table
        .filter(order_events::order_id.eq(order.to_string()))
        .filter(order_events::business_id.eq(business.to_string()))
        .filter(order_events::event_id.eq(event.to_string()))
        .select(order_events::recorded_at)
        .first(conn)
        .await
        .optional()?;
    Ok(recorded_at)
}
