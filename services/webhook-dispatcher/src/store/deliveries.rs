//! Deliveries: one event for one endpoint.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, WebhookDeliveryId};
use postgres::StoreError;

use super::corrupt;
use super::schema::{deliveries, events};
use crate::domain::{Delivery, DeliveryState, shown_status};

type DeliveryRow = (
    (String, String, String, String, String, i32),
    (Option<DateTime<Utc>>, Option<i64>, Option<i32>, Option<String>, DateTime<Utc>, Option<DateTime<Utc>>),
    (Option<DateTime<Utc>>, String, Option<String>),
);

/// The columns of a [`DeliveryRow`].
macro_rules! delivery_columns {
    () => {
        (
            (
                deliveries::id,
                deliveries::endpoint_id,
                deliveries::event_id,
                deliveries::kind,
                deliveries::state,
                deliveries::attempts,
            ),
            (
                deliveries::due_at,
                deliveries::lease_token,
                deliveries::last_status,
                deliveries::last_error,
                deliveries::created_at,
                deliveries::completed_at,
            ),
            (deliveries::stepped_aside_at, events::mode, events::order_reference),
        )
    };
}

fn delivery(row: DeliveryRow) -> Result<Delivery, StoreError> {
    let ((id, endpoint_id, event_id, kind, state, attempts), times, (skipped_at, mode, order_reference)) =
        row;
    let (due_at, lease_token, status, last_error, created_at, completed_at) = times;
    Ok(Delivery {
        id: id.parse().map_err(corrupt)?,
        endpoint_id: endpoint_id.parse().map_err(corrupt)?,
        event_id: event_id.parse().map_err(corrupt)?,
        kind: kind.parse().map_err(corrupt)?,
        mode: mode.parse().map_err(corrupt)?,
        order_reference,
        state: state.parse().map_err(corrupt)?,
        attempts,
        next_attempt_at: due_at.filter(|_| lease_token.is_none()),
        last_response_status: shown_status(status),
        last_error,
        created_at,
        completed_at,
        skipped_at,
    })
}

pub(crate) async fn find_delivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let row: Option<DeliveryRow> = deliveries::table
        .inner_join(events::table.on(
            events::event_id.eq(deliveries::event_id).and(events::business_id.eq(deliveries::business_id)),
        ))
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .select(delivery_columns!())
        .first(conn)
        .await
        .optional()?;
    row.map(delivery).transpose()
}

/// A delivery that is locked until the transaction ends.
pub(crate) struct LockedDelivery {
    pub state: DeliveryState,
    pub endpoint: EndpointId,
    /// Behind an earlier delivery of its order.
    pub is_waiting: bool,
}

pub(crate) async fn find_for_redelivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<LockedDelivery>, StoreError> {
    let row: Option<(String, String, Option<DateTime<Utc>>)> = deliveries::table
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .select((deliveries::state, deliveries::endpoint_id, deliveries::due_at))
        .for_update()
        .first(conn)
        .await
        .optional()?;
    let Some((state, endpoint, due_at)) = row else { return Ok(None) };
    let state = state.parse().map_err(corrupt)?;
    let is_waiting = state == DeliveryState::Pending && due_at.is_none();
    Ok(Some(LockedDelivery { state, endpoint: endpoint.parse().map_err(corrupt)?, is_waiting }))
}

/// Makes a completed delivery due again and restarts its retry schedule. It does not return to its order's queue: later
/// events were sent already and must not wait for it.
pub(crate) async fn send_again(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = diesel::update(deliveries::table)
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .filter(deliveries::state.ne("pending"))
        .set((
            deliveries::state.eq("pending"),
            deliveries::in_turn.eq(false),
            deliveries::earlier_attempts.eq(deliveries::attempts),
            deliveries::due_at.eq(now),
            deliveries::completed_at.eq(None::<DateTime<Utc>>),
        ))
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

/// Makes a delivery that waits for its next attempt due now. Returns false if it is in flight or waits in its queue.
pub(crate) async fn bring_forward(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = diesel::update(deliveries::table)
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .filter(deliveries::due_at.gt(now))
        .filter(deliveries::lease_token.is_null())
        .set(deliveries::due_at.eq(now))
        .execute(conn)
        .await?;
    Ok(changed == 1)
}
