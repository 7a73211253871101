//! Events that were fanned out, with the bytes that are sent.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId};
use postgres::StoreError;
use telemetry::TraceContext;

use super::schema::events;
use crate::domain::WebhookEvent;

#[derive(Insertable)]
#[diesel(table_name = events)]
struct NewEventRow<'a> {
    event_id: String,
    business_id: String,
    order_id: Option<String>,
    sequence: Option<i64>,
    kind: &'static str,
    mode: &'static str,
    order_reference: Option<&'a str>,
    body: &'a [u8],
    traceparent: Option<&'a str>,
    tracestate: Option<&'a str>,
    occurred_at: chrono::DateTime<chrono::Utc>,
}

/// False when it was stored before: it was fanned out then, too.
pub(crate) async fn insert_event(
    conn: &mut AsyncPgConnection,
    event: &WebhookEvent,
    trace: Option<&TraceContext>,
) -> Result<bool, StoreError> {
    let row = NewEventRow {
        event_id: event.id.to_string(),
        business_id: event.business_id.to_string(),
        order_id: event.place.map(|place| place.order_id.to_string()),
        sequence: event.place.map(|place| place.sequence),
        kind: event.kind.as_str(),
        mode: event.mode.as_str(),
        order_reference: event.order_reference.as_deref(),
        body: &event.body,
        traceparent: trace.map(|trace| trace.traceparent.as_str()),
        tracestate: trace.and_then(|trace| trace.tracestate.as_deref()),
        occurred_at: event.occurred_at,
    };
    let inserted =
        diesel::insert_into(events::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    Ok(inserted == 1)
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
