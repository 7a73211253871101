//! Deliveries: one event for one endpoint.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::schema::deliveries;
use crate::domain::{Delivery, DeliveryState, shown_status};

/// The columns of a [`DeliveryRow`], from `deliveries AS delivery` and `events`.
macro_rules! delivery_columns {
    () => {
        "delivery.id, delivery.endpoint_id, delivery.event_id, delivery.kind, delivery.state, delivery.attempts,
         delivery.due_at, delivery.lease_token, delivery.last_status, delivery.last_error, delivery.created_at,
         delivery.completed_at, delivery.skipped_at, events.mode, events.order_reference"
    };
}
pub(super) use delivery_columns;

#[derive(QueryableByName)]
#[diesel(table_name = deliveries)]
pub(super) struct DeliveryRow {
    id: String,
    endpoint_id: String,
    event_id: String,
    kind: String,
    state: String,
    attempts: i32,
    due_at: Option<DateTime<Utc>>,
    lease_token: Option<i64>,
    last_status: Option<i32>,
    last_error: Option<String>,
    created_at: DateTime<Utc>,
    completed_at: Option<DateTime<Utc>>,
    skipped_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Text)]
    mode: String,
    #[diesel(sql_type = Nullable<Text>)]
    order_reference: Option<String>,
}

impl DeliveryRow {
    pub(super) fn into_delivery(self) -> Result<Delivery, StoreError> {
        Ok(Delivery {
            id: self.id.parse().map_err(corrupt)?,
            endpoint_id: self.endpoint_id.parse().map_err(corrupt)?,
            event_id: self.event_id.parse().map_err(corrupt)?,
            kind: self.kind.parse().map_err(corrupt)?,
            mode: self.mode.parse().map_err(corrupt)?,
            order_reference: self.order_reference,
            state: self.state.parse().map_err(corrupt)?,
            attempts: self.attempts,
            next_attempt_at: self.due_at.filter(|_| self.lease_token.is_none()),
            last_response_status: shown_status(self.last_status),
            last_error: self.last_error,
            created_at: self.created_at,
            completed_at: self.completed_at,
            skipped_at: self.skipped_at,
        })
    }
}

const FIND: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    " FROM deliveries AS delivery
     JOIN events ON events.event_id = delivery.event_id AND events.business_id = delivery.business_id
     WHERE delivery.business_id = $1 AND delivery.id = $2"
);

pub(crate) async fn find_delivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let row: Option<DeliveryRow> = statement(FIND)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .get_result(conn)
        .await
        .optional()?;
    row.map(DeliveryRow::into_delivery).transpose()
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
