//! Events that were fanned out, with the bytes that are sent.

use std::collections::HashSet;

use diesel::QueryableByName;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId};
use postgres::{StoreError, statement};
use telemetry::TraceContext;

use super::corrupt;
use super::schema::events;
use crate::domain::WebhookEvent;

const INSERT: &str = "
    INSERT INTO events (
        event_id, business_id, order_id, sequence, kind, mode, order_reference, body, traceparent, tracestate,
        occurred_at)
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT DO NOTHING
    RETURNING event_id";

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = Text)]
    event_id: String,
}

/// Tells which are new; those that were stored before were fanned out then, too.
pub(crate) async fn insert_events(
    conn: &mut AsyncPgConnection,
    new: &[(&WebhookEvent, Option<&TraceContext>)],
) -> Result<HashSet<EventId>, StoreError> {
    let all = || new.iter().map(|(event, _)| *event);
    let traces = || new.iter().map(|(_, trace)| *trace);
    let place = |event: &WebhookEvent| event.place.map(|place| place.order_id.to_string());
    let rows: Vec<IdRow> = statement(INSERT)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.business_id.to_string())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(place)))
        .bind::<Array<Nullable<BigInt>>, _>(Vec::from_iter(
            all().map(|event| event.place.map(|place| place.sequence)),
        ))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.kind.as_str())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|event| event.mode.as_str())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(all().map(|event| event.order_reference.as_deref())))
        .bind::<Array<Binary>, _>(Vec::from_iter(all().map(|event| event.body.as_slice())))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.map(|trace| trace.traceparent.as_str())),
        ))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.and_then(|trace| trace.tracestate.as_deref())),
        ))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(all().map(|event| event.occurred_at)))
        .load(conn)
        .await?;
    rows.iter().map(|row| row.event_id.parse().map_err(corrupt)).collect()
}

/// The bytes that were, or will be, sent.
pub(crate) async fn body_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    event: EventId,
) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(events::table
        .filter(events::business_id.eq(business.to_string()))
        .filter(events::event_id.eq(event.to_string()))
        .select(events::body)
        .first(conn)
        .await
        .optional()?)
}
