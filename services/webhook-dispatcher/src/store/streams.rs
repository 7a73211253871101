//! The order of one order's events: what comes next, and what came too early.

use chrono::{DateTime, Utc};
use diesel::dsl::{count_star, min};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use events::Envelope;
use postgres::StoreError;
use telemetry::TraceContext;

use super::corrupt;
use super::schema::{order_streams, parked_events};

/// An event that waits for its predecessors.
pub(crate) struct ParkedEvent {
    pub envelope: Envelope,
    pub trace: Option<TraceContext>,
}

/// Locks the order's stream, which begins here if it is new, and tells the sequence that is due. None when the order
/// is known as another business's.
pub(crate) async fn lock_stream(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Option<i64>, StoreError> {
    diesel::insert_into(order_streams::table)
        .values((
            order_streams::order_id.eq(order.to_string()),
            order_streams::business_id.eq(business.to_string()),
            order_streams::next_sequence.eq(1),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(order_streams::table
        .filter(order_streams::business_id.eq(business.to_string()))
        .filter(order_streams::order_id.eq(order.to_string()))
        .select(order_streams::next_sequence)
        .for_update()
        .first(conn)
        .await
        .optional()?)
}

/// Everything below `next_sequence` has been handed on. Wants the stream's lock.
pub(crate) async fn advance_to(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    next_sequence: i64,
) -> Result<(), StoreError> {
    let advanced = diesel::update(order_streams::table)
        .filter(order_streams::business_id.eq(business.to_string()))
        .filter(order_streams::order_id.eq(order.to_string()))
        .filter(order_streams::next_sequence.lt(next_sequence))
        .set(order_streams::next_sequence.eq(next_sequence))
        .execute(conn)
        .await?;
    if advanced == 1 { Ok(()) } else { Err(corrupt(format!("the stream of {order} did not advance"))) }
}

pub(crate) async fn parked_count(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<i64, StoreError> {
    Ok(parked_events::table
        .filter(parked_events::business_id.eq(business.to_string()))
        .filter(parked_events::order_id.eq(order.to_string()))
        .select(count_star())
        .first(conn)
        .await?)
}

/// Keeps an event until its turn. False when another event holds that place.
pub(crate) async fn park(
    conn: &mut AsyncPgConnection,
    order: OrderId,
    sequence: i64,
    parked: &ParkedEvent,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let trace = parked.trace.as_ref();
    let inserted = diesel::insert_into(parked_events::table)
        .values((
            parked_events::order_id.eq(order.to_string()),
            parked_events::sequence.eq(sequence),
            parked_events::event_id.eq(parked.envelope.id.to_string()),
            parked_events::business_id.eq(parked.envelope.business_id.to_string()),
            parked_events::envelope.eq(serde_json::to_value(&parked.envelope).map_err(corrupt)?),
            parked_events::traceparent.eq(trace.map(|trace| trace.traceparent.as_str())),
            parked_events::tracestate.eq(trace.and_then(|trace| trace.tracestate.as_deref())),
            parked_events::parked_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// The event parked at this place, which is free again afterwards.
pub(crate) async fn take_parked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    sequence: i64,
) -> Result<Option<ParkedEvent>, StoreError> {
    let taken: Option<(serde_json::Value, Option<String>, Option<String>)> =
        diesel::delete(parked_events::table)
            .filter(parked_events::business_id.eq(business.to_string()))
            .filter(parked_events::order_id.eq(order.to_string()))
            .filter(parked_events::sequence.eq(sequence))
            .returning((parked_events::envelope, parked_events::traceparent, parked_events::tracestate))
            .get_result(conn)
            .await
            .optional()?;
    let Some((envelope, traceparent, tracestate)) = taken else { return Ok(None) };
    let trace = traceparent.map(|traceparent| TraceContext { traceparent, tracestate });
    let envelope: Envelope = serde_json::from_value(envelope).map_err(corrupt)?;
    Ok(Some(ParkedEvent { envelope, trace }))
}

/// How many events of all businesses are parked, and since when the oldest. For the operator's alerts.
pub(crate) async fn parked_overview(
    conn: &mut AsyncPgConnection,
) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
    Ok(parked_events::table.select((count_star(), min(parked_events::parked_at))).first(conn).await?)
}
