//! Stores events together with a delivery for every subscriber.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{EndpointId, WebhookDeliveryId};
use postgres::{StoreError, statement};
use telemetry::TraceContext;

use super::corrupt;
use super::leases::lease_end;
use crate::domain::WebhookEvent;

#[derive(Clone, Copy, Debug)]
pub(crate) struct NewDelivery<'a> {
    pub id: WebhookDeliveryId,
    pub event: &'a WebhookEvent,
    pub endpoint: EndpointId,
    /// When it was created.
    pub at: DateTime<Utc>,
    /// The token of a lease, if the caller would send the delivery immediately.
    pub lease_token: Option<i64>,
    /// Set if it was sent before, and succeeded.
    pub success: Option<Success>,
}

/// The outcome of a delivery that needs no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Success {
    pub last_status: i32,
}

/// Events that are already stored are skipped: they were fanned out then. A delivery of an order is due, and leased,
/// or succeeded, only if no earlier delivery of its queue is pending or parked, in the table or among the new ones.
const FAN_OUT: &str = concat!(
    "
    WITH stored AS (
        INSERT INTO events (
            event_id, business_id, order_id, sequence, kind, mode, order_reference, body, traceparent, tracestate,
            occurred_at)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT DO NOTHING
        RETURNING event_id, business_id, order_id, sequence, kind, mode
    )
    INSERT INTO deliveries (
        id, event_id, endpoint_id, business_id, order_id, sequence, kind, mode, due_at, lease_token, lease_until, in_turn,
        state, attempts, earlier_attempts, created_at, completed_at, last_status)
    SELECT id, event_id, endpoint_id, business_id, order_id, sequence, kind, mode,
        CASE WHEN head AND NOT done THEN statement_timestamp() END, CASE WHEN head AND NOT done THEN lease_token END,
        CASE WHEN head AND NOT done AND lease_token IS NOT NULL THEN ",
    lease_end!(),
    " END,
        order_id IS NOT NULL, CASE WHEN head AND done THEN 'succeeded' ELSE 'pending' END, (head AND done)::int, 0, at,
        CASE WHEN head AND done THEN statement_timestamp() END, CASE WHEN head THEN last_status END
    FROM (
        SELECT stored.*, new.id, new.endpoint_id, new.lease_token, new.at, new.last_status,
            new.last_status IS NOT NULL AS done,
            stored.order_id IS NULL OR (
                row_number() OVER (PARTITION BY new.endpoint_id, stored.order_id ORDER BY stored.sequence) = 1
                AND earlier.id IS NULL) AS head
        FROM unnest($12, $13, $14, $15, $16, $17) AS new (
            id, event_id, endpoint_id, lease_token, at, last_status)
        JOIN stored ON stored.event_id = new.event_id
        LEFT JOIN LATERAL (
            (SELECT id FROM deliveries
             WHERE endpoint_id = new.endpoint_id AND order_id = stored.order_id AND state = 'pending' AND in_turn LIMIT 1)
            UNION ALL
            (SELECT id FROM deliveries
             WHERE endpoint_id = new.endpoint_id AND order_id = stored.order_id AND state = 'parked' AND in_turn LIMIT 1)
            LIMIT 1
        ) AS earlier ON true
    ) AS new
    RETURNING id, lease_token IS NOT NULL AS leased, due_at IS NOT NULL AS due, completed_at IS NOT NULL AS done"
);

#[derive(QueryableByName)]
struct FannedOutRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Bool)]
    leased: bool,
    #[diesel(sql_type = Bool)]
    due: bool,
    #[diesel(sql_type = Bool)]
    done: bool,
}

/// The state of a new delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InitialState {
    /// To the caller, as requested.
    Leased,
    /// Any process may claim it.
    Due,
    /// Behind others of its order.
    Waiting,
    /// It was sent before.
    Succeeded,
}

/// Returns the created deliveries. The caller holds the locks of the orders' streams.
pub(crate) async fn fan_out(
    mut conn: &AsyncPgConnection,
    events: &[(&WebhookEvent, Option<&TraceContext>)],
    deliveries: &[NewDelivery<'_>],
) -> Result<HashMap<WebhookDeliveryId, InitialState>, StoreError> {
    if events.is_empty() {
        return Ok(HashMap::new());
    }
    let all = || events.iter().map(|(event, _)| *event);
    let traces = || events.iter().map(|(_, trace)| *trace);
    let order = |event: &WebhookEvent| event.position.map(|position| position.order_id.to_string());
    let sequence = |event: &WebhookEvent| event.position.map(|position| position.sequence);
    let parent = |trace: Option<&TraceContext>| trace.map(|trace| trace.traceparent.clone());
    let state = |trace: Option<&TraceContext>| trace.and_then(|trace| trace.tracestate.clone());
    let new = || deliveries.iter();
    let rows: Vec<FannedOutRow> = statement(FAN_OUT)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.business_id.to_string())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(order)))
        .bind::<Array<Nullable<BigInt>>, _>(Vec::from_iter(all().map(sequence)))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.kind.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.mode.as_str())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(|event| event.order_reference.as_deref())))
        .bind::<Array<Binary>, _>(Vec::from_iter(all().map(|event| event.body.as_slice())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(traces().map(parent)))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(traces().map(state)))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(all().map(|event| event.occurred_at)))
        .bind::<Array<Text>, _>(Vec::from_iter(new().map(|delivery| delivery.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(new().map(|delivery| delivery.event.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(new().map(|delivery| delivery.endpoint.to_string())))
        .bind::<Array<Nullable<BigInt>>, _>(Vec::from_iter(new().map(|delivery| delivery.lease_token)))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(new().map(|delivery| delivery.at)))
        .bind::<Array<Nullable<Integer>>, _>(Vec::from_iter(
            new().map(|delivery| delivery.success.map(|success| success.last_status)),
        ))
        .load(&mut conn)
        .await?;
    let state_of = |row: &FannedOutRow| match (row.done, row.leased, row.due) {
        (true, ..) => InitialState::Succeeded,
        (false, true, _) => InitialState::Leased,
        (false, false, true) => InitialState::Due,
        (false, false, false) => InitialState::Waiting,
    };
    rows.iter().map(|row| Ok((row.id.parse().map_err(corrupt)?, state_of(row)))).collect()
}
