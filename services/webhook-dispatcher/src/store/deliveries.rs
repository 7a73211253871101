//! Deliveries: one event for one endpoint.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
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
    /// An attempt runs, or its outcome is not stored yet.
    pub is_in_flight: bool,
}

/// State, endpoint, due time and lease token.
type LockedRow = (String, String, Option<DateTime<Utc>>, Option<i64>);

pub(crate) async fn find_for_redelivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<LockedDelivery>, StoreError> {
    let row: Option<LockedRow> = deliveries::table
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .select((deliveries::state, deliveries::endpoint_id, deliveries::due_at, deliveries::lease_token))
        .for_update()
        .first(conn)
        .await
        .optional()?;
    let Some((state, endpoint, due_at, lease_token)) = row else { return Ok(None) };
    let state = state.parse().map_err(corrupt)?;
    let is_waiting = state == DeliveryState::Pending && due_at.is_none();
    let endpoint = endpoint.parse().map_err(corrupt)?;
    Ok(Some(LockedDelivery { state, endpoint, is_waiting, is_in_flight: lease_token.is_some() }))
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

const REQUEST: &str = "
    UPDATE deliveries
    SET requested_by = 'redelivery', due_at = CASE WHEN lease_token IS NULL AND due_at > $3 THEN $3 ELSE due_at END
    WHERE business_id = $1 AND id = $2 AND state = 'pending'";

/// Requests an attempt of a pending delivery: now, after the attempt in flight, or when its queue reaches it. The caller
/// has locked the delivery.
pub(crate) async fn request_attempt(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = statement(REQUEST)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    if changed == 1 { Ok(()) } else { Err(corrupt("a locked delivery is not pending")) }
}

/// Locks sorted and waits, as the recorder does: an outcome that is being stored is stored first. The endpoint may have
/// millions of due deliveries, and claims take the oldest.
const REQUEST_UNLESS_RECEIVED: &str = "
    UPDATE deliveries SET requested_by = 'recovery'
    FROM (
        SELECT id, business_id FROM deliveries
        WHERE business_id = $1 AND lease_token IS NOT NULL AND kind <> 'webhook.test' AND id = ANY (ARRAY(
            SELECT oldest.id
            FROM (VALUES ('live'), ('test')) AS modes (mode)
            CROSS JOIN LATERAL (
                SELECT id, lease_token FROM deliveries
                WHERE endpoint_id = $2 AND business_id = $1 AND deliveries.mode = modes.mode AND due_at IS NOT NULL
                ORDER BY due_at, id
                LIMIT $3) AS oldest
            WHERE oldest.lease_token IS NOT NULL))
        ORDER BY id
        FOR UPDATE
    ) AS in_flight
    WHERE deliveries.id = in_flight.id AND deliveries.business_id = in_flight.business_id
        AND deliveries.requested_by IS NULL";

/// Due deliveries that are searched for those in flight.
const SEARCHED_MAX: i64 = 10_000;

/// Requests another attempt of the endpoint's deliveries in flight, in case the present one fails.
pub(crate) async fn request_unless_received(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<(), StoreError> {
    statement(REQUEST_UNLESS_RECEIVED)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(endpoint.to_string())
        .bind::<BigInt, _>(SEARCHED_MAX)
        .execute(conn)
        .await?;
    Ok(())
}

const ATTEMPT_AGAIN: &str = "
    UPDATE deliveries
    SET state = 'pending', due_at = $2, completed_at = NULL, in_turn = in_turn AND state <> 'succeeded',
        earlier_attempts = CASE WHEN state = 'pending' THEN earlier_attempts ELSE attempts END
    WHERE id = ANY ($1)";

/// Makes deliveries due again right after their outcomes were stored. Ended deliveries restart their retry schedules. One
/// that succeeded leaves its queue. The caller holds the locks of the queues that lose a delivery. Serves all businesses.
pub(super) async fn attempt_again(
    mut conn: &AsyncPgConnection,
    deliveries: &[String],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    if deliveries.is_empty() {
        return Ok(());
    }
    statement(ATTEMPT_AGAIN)
        .bind::<Array<Text>, _>(deliveries)
        .bind::<Timestamptz, _>(now)
        .execute(&mut conn)
        .await?;
    Ok(())
}
