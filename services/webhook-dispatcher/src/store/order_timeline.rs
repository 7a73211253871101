//! The deliveries of an order's events for its timeline, and those of given events for the list of a business's events.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Timestamptz;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId, OrderId, WebhookDeliveryId};
use postgres::{StoreError, literal};

use super::corrupt;
use super::schema::{attempts, deliveries, events};
use crate::domain::{LatestAttempt, OrderDelivery, TimelineCursor};

/// Excludes older partitions of attempts. The margin is that of `attempts`.
const EARLIEST: &str = "deliveries.created_at - interval '5 minutes'";

type Row = (
    (String, String, String, String, String, i32),
    (Option<DateTime<Utc>>, Option<i64>, Option<String>, DateTime<Utc>, Option<DateTime<Utc>>),
    Option<(DateTime<Utc>, Option<i32>)>,
);

/// The deliveries of a business's events, each with its latest attempt: the columns of a [`Row`].
macro_rules! of_events {
    ($business:expr) => {
        events::table
            .inner_join(
                deliveries::table.on(deliveries::event_id
                    .eq(events::event_id)
                    .and(deliveries::business_id.eq(events::business_id))),
            )
            .left_join(
                attempts::table.on(attempts::delivery_id
                    .eq(deliveries::id)
                    .and(attempts::business_id.eq(deliveries::business_id))
                    .and(attempts::number.eq(deliveries::attempts))
                    .and(attempts::started_at.ge(literal::<Timestamptz>(EARLIEST)))),
            )
            .filter(events::business_id.eq($business.to_string()))
            .filter(deliveries::business_id.eq($business.to_string()))
            .select((
                (
                    deliveries::id,
                    deliveries::event_id,
                    deliveries::kind,
                    deliveries::endpoint_id,
                    deliveries::state,
                    deliveries::attempts,
                ),
                (
                    deliveries::due_at,
                    deliveries::lease_token,
                    deliveries::last_error,
                    deliveries::created_at,
                    deliveries::completed_at,
                ),
                (attempts::started_at, attempts::response_status).nullable(),
            ))
    };
}

macro_rules! of_order {
    ($business:expr, $order:expr) => {
        of_events!($business).filter(events::order_id.eq($order.to_string()))
    };
}

/// The deliveries of these events, oldest first, at most `limit`.
pub(crate) async fn deliveries_of_events(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[EventId],
    limit: i64,
) -> Result<Vec<OrderDelivery>, StoreError> {
    let ids: Vec<String> = ids.iter().map(EventId::to_string).collect();
    let query = of_events!(business)
        .filter(events::event_id.eq_any(ids))
        .order((deliveries::created_at, deliveries::id))
        .limit(limit);
    query.load::<Row>(conn).await?.into_iter().map(delivery).collect()
}

/// Oldest first, after the cursor.
pub(crate) async fn deliveries_of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    after: Option<TimelineCursor>,
    limit: i64,
) -> Result<Vec<OrderDelivery>, StoreError> {
    let mut query =
        of_order!(business, order).order((deliveries::created_at, deliveries::id)).limit(limit).into_boxed();
    if let Some(after) = after {
        let later = deliveries::created_at.gt(after.at);
        let same_time = deliveries::created_at.eq(after.at).and(deliveries::id.gt(after.id));
        query = query.filter(later.or(same_time));
    }
    query.load::<Row>(conn).await?.into_iter().map(delivery).collect()
}

pub(crate) async fn delivery_of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    id: WebhookDeliveryId,
) -> Result<Option<OrderDelivery>, StoreError> {
    let row: Option<Row> =
        of_order!(business, order).filter(deliveries::id.eq(id.to_string())).first(conn).await.optional()?;
    row.map(delivery).transpose()
}

fn delivery(row: Row) -> Result<OrderDelivery, StoreError> {
    let ((id, event_id, kind, endpoint_id, state, attempts), times, latest) = row;
    let (due_at, lease_token, last_error, created_at, completed_at) = times;
    Ok(OrderDelivery {
        id: id.parse().map_err(corrupt)?,
        event_id: event_id.parse().map_err(corrupt)?,
        kind: kind.parse().map_err(corrupt)?,
        endpoint_id: endpoint_id.parse().map_err(corrupt)?,
        state: state.parse().map_err(corrupt)?,
        attempts,
        latest_attempt: latest.map(|(at, response_status)| LatestAttempt { at, response_status }),
        next_attempt_at: due_at.filter(|_| lease_token.is_none()),
        last_error,
        created_at,
        completed_at,
    })
}
