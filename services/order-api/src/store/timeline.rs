//! The timeline of an order.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};

use super::StoreError;
use super::rows::OrderEventRow;
use super::schema::order_events;
use crate::domain::OrderEvent;

/// Adds events; each continues its order's sequence, which the primary key guards.
pub async fn append(conn: &mut AsyncPgConnection, events: &[OrderEvent]) -> Result<(), StoreError> {
    let rows: Vec<_> = events.iter().map(OrderEventRow::from).collect();
    diesel::insert_into(order_events::table).values(rows).execute(conn).await?;
    Ok(())
}

/// The events of an order after `after_sequence`, in order.
pub async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    after_sequence: i64,
    limit: usize,
) -> Result<Vec<OrderEvent>, StoreError> {
    let rows: Vec<OrderEventRow> = order_events::table
        .filter(order_events::order_id.eq(order.to_string()))
        .filter(order_events::business_id.eq(business.to_string()))
        .filter(order_events::sequence.gt(after_sequence))
        .order(order_events::sequence)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(OrderEventRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(OrderEvent::try_from).collect()
}

/// The sequence of an event of this order, for a page that begins after it.
pub async fn sequence_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    event_id: &str,
) -> Result<Option<i64>, StoreError> {
    let sequence = order_events::table
        .filter(order_events::order_id.eq(order.to_string()))
        .filter(order_events::business_id.eq(business.to_string()))
        .filter(order_events::event_id.eq(event_id))
        .select(order_events::sequence)
        .first(conn)
        .await
        .optional()?;
    Ok(sequence)
}
