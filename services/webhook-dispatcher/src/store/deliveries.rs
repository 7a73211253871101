//! Deliveries: one event for one endpoint.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, WebhookDeliveryId};
use internal_api::webhooks::DeliveryState;
use postgres::{StoreError, statement};

use super::corrupt;
use super::schema::{deliveries, events};
use crate::domain::{Delivery, WebhookEvent};

/// A delivery to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewDelivery<'a> {
    pub id: WebhookDeliveryId,
    pub event: &'a WebhookEvent,
    pub endpoint: EndpointId,
    /// The lease's token and its end, for one who would send it at once.
    pub lease: Option<(i64, DateTime<Utc>)>,
}

/// A delivery that takes turns is due when nothing is before it, neither in the table nor among the new ones; only then
/// is it leased, too.
const INSERT: &str = "
    INSERT INTO deliveries (
        id, event_id, endpoint_id, business_id, order_id, sequence, kind, due_at, lease_token, lease_until, in_turn,
        state, attempts, earlier_attempts, created_at)
    SELECT id, event_id, endpoint_id, business_id, order_id, sequence, kind,
        CASE WHEN head THEN $11 END, CASE WHEN head THEN lease_token END, CASE WHEN head THEN lease_until END,
        order_id IS NOT NULL, 'pending', 0, 0, $11
    FROM (
        SELECT new.*, new.leads AND NOT EXISTS (
            SELECT FROM deliveries AS earlier
            WHERE earlier.endpoint_id = new.endpoint_id AND earlier.order_id = new.order_id
              AND earlier.state = 'pending' AND earlier.in_turn) AS head
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS new (
            id, event_id, endpoint_id, business_id, order_id, sequence, kind, lease_token, lease_until, leads)
    ) AS new
    RETURNING id, lease_token IS NOT NULL AS leased";

#[derive(QueryableByName)]
struct InsertedRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Bool)]
    leased: bool,
}

/// Gives back which are leased. Wants the locks of the orders' streams, and the deliveries of one endpoint and order in
/// their sequence.
pub(crate) async fn insert_deliveries(
    conn: &mut AsyncPgConnection,
    new: &[NewDelivery<'_>],
    now: DateTime<Utc>,
) -> Result<HashSet<WebhookDeliveryId>, StoreError> {
    if new.is_empty() {
        return Ok(HashSet::new());
    }
    let events = || new.iter().map(|delivery| delivery.event);
    let leases = || new.iter().map(|delivery| delivery.lease);
    let mut led = HashSet::new();
    // Whether it comes before all others of its endpoint and order that are in the list.
    let leads = |delivery: &NewDelivery<'_>| {
        delivery.event.place.is_none_or(|place| led.insert((delivery.endpoint, place.order_id)))
    };
    let rows: Vec<InsertedRow> = statement(INSERT)
        .bind::<Array<Text>, _>(Vec::from_iter(new.iter().map(|delivery| delivery.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(events().map(|event| event.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(new.iter().map(|delivery| delivery.endpoint.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(events().map(|event| event.business_id.to_string())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            events().map(|event| event.place.map(|place| place.order_id.to_string())),
        ))
        .bind::<Array<Nullable<BigInt>>, _>(Vec::from_iter(
            events().map(|event| event.place.map(|place| place.sequence)),
        ))
        .bind::<Array<Text>, _>(Vec::from_iter(events().map(|event| event.kind.as_str())))
        .bind::<Array<Nullable<BigInt>>, _>(Vec::from_iter(
            leases().map(|lease| lease.map(|(token, _)| token)),
        ))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            leases().map(|lease| lease.map(|(_, until)| until)),
        ))
        .bind::<Array<Bool>, _>(Vec::from_iter(new.iter().map(leads)))
        .bind::<Timestamptz, _>(now)
        .load(conn)
        .await?;
    let leased = rows.into_iter().filter(|row| row.leased);
    leased.map(|row| row.id.parse().map_err(corrupt)).collect()
}

type DeliveryRow = (
    (String, String, String, String, String, i32),
    (Option<DateTime<Utc>>, Option<i64>, Option<String>, DateTime<Utc>, Option<DateTime<Utc>>),
    (String, Option<String>),
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
                deliveries::last_error,
                deliveries::created_at,
                deliveries::completed_at,
            ),
            (events::mode, events::order_reference),
        )
    };
}

fn delivery(row: DeliveryRow) -> Result<Delivery, StoreError> {
    let ((id, endpoint_id, event_id, kind, state, attempts), times, (mode, order_reference)) = row;
    let (due_at, lease_token, last_error, created_at, completed_at) = times;
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
        last_error,
        created_at,
        completed_at,
    })
}

pub(crate) async fn find_delivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<Delivery>, StoreError> {
    let row: Option<DeliveryRow> = deliveries::table
        .inner_join(events::table)
        .filter(deliveries::business_id.eq(business.to_string()))
        .filter(deliveries::id.eq(id.to_string()))
        .select(delivery_columns!())
        .first(conn)
        .await
        .optional()?;
    row.map(delivery).transpose()
}

/// Where a delivery stands, locked until the transaction ends.
pub(crate) struct Stored {
    pub state: DeliveryState,
    pub endpoint: EndpointId,
    /// An earlier one of its order is to be sent before.
    pub waits_its_turn: bool,
}

pub(crate) async fn find_for_redelivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<Stored>, StoreError> {
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
    let waits_its_turn = state == DeliveryState::Pending && due_at.is_none();
    Ok(Some(Stored { state, endpoint: endpoint.parse().map_err(corrupt)?, waits_its_turn }))
}

/// Makes a delivery that is over due again, with a retry schedule that begins anew. It takes no turn: what it tells is
/// old news, and nothing waits for it.
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

/// Makes a delivery that waits for its next attempt due now. False when it is being sent, or waits for its turn.
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
