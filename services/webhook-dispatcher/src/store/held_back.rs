//! Events that are held back until their predecessors arrive (table `held_back_events`).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::dsl::{count_star, min};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Json, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId, OrderId};
use postgres::{StoreError, statement};
use telemetry::TraceContext;

use super::corrupt;
use super::schema::held_back_events;
use crate::domain::{HELD_BACK_MAX, Incoming};

/// The position of an event among those of its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderPosition {
    pub order: OrderId,
    pub business: BusinessId,
    pub sequence: i64,
}

const EVENTS: &str = "
    SELECT known.order_id, held_back.sequence, held_back.event_id
    FROM unnest($1, $2) AS known (order_id, business_id)
    CROSS JOIN LATERAL (
        SELECT sequence, event_id FROM held_back_events
        WHERE order_id = known.order_id AND business_id = known.business_id
        ORDER BY sequence
        LIMIT $3
    ) AS held_back";

#[derive(QueryableByName)]
struct EventRow {
    #[diesel(sql_type = Text)]
    order_id: String,
    #[diesel(sql_type = BigInt)]
    sequence: i64,
    #[diesel(sql_type = Text)]
    event_id: String,
}

/// The held-back events of these orders, by their sequences. The caller holds the streams' locks.
pub(crate) async fn held_back_events(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<BTreeMap<OrderId, BTreeMap<i64, EventId>>, StoreError> {
    let mut events: BTreeMap<OrderId, BTreeMap<i64, EventId>> = BTreeMap::new();
    if orders.is_empty() {
        return Ok(events);
    }
    let rows: Vec<EventRow> = statement(EVENTS)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .bind::<BigInt, _>(i64::try_from(HELD_BACK_MAX).map_err(corrupt)?)
        .load(&mut conn)
        .await?;
    for row in rows {
        let of_order = events.entry(row.order_id.parse().map_err(corrupt)?).or_default();
        of_order.insert(row.sequence, row.event_id.parse().map_err(corrupt)?);
    }
    Ok(events)
}

const INSERT: &str = "
    INSERT INTO held_back_events (
        order_id, sequence, event_id, business_id, envelope, traceparent, tracestate, held_back_at)
    SELECT new.*, $8 FROM unnest($1, $2, $3, $4, $5, $6, $7) AS new";

/// The caller holds the streams' locks.
pub(crate) async fn hold_back(
    mut conn: &AsyncPgConnection,
    events: &[(OrderPosition, &Incoming)],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    if events.is_empty() {
        return Ok(());
    }
    let all = || events.iter();
    let traces = || all().map(|(_, event)| event.trace.as_ref());
    let envelopes: Vec<_> = all()
        .map(|(_, event)| serde_json::to_value(&event.envelope))
        .collect::<Result<_, _>>()
        .map_err(corrupt)?;
    statement(INSERT)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(position, _)| position.order.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(all().map(|(position, _)| position.sequence)))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(_, event)| event.envelope.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(position, _)| position.business.to_string())))
        .bind::<Array<Json>, _>(envelopes)
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.map(|trace| trace.traceparent.as_str())),
        ))
        .bind::<Array<Nullable<Text>>, _>(Vec::from_iter(
            traces().map(|trace| trace.and_then(|trace| trace.tracestate.as_deref())),
        ))
        .bind::<Timestamptz, _>(now)
        .execute(&mut conn)
        .await?;
    Ok(())
}

const TAKE: &str = "
    DELETE FROM held_back_events AS held_back
    USING unnest($1, $2, $3) AS due (order_id, business_id, sequence)
    WHERE held_back.order_id = due.order_id AND held_back.business_id = due.business_id AND held_back.sequence = due.sequence
    RETURNING held_back.order_id, held_back.sequence, held_back.envelope, held_back.traceparent, held_back.tracestate";

#[derive(QueryableByName)]
struct HeldBackRow {
    #[diesel(sql_type = Text)]
    order_id: String,
    #[diesel(sql_type = BigInt)]
    sequence: i64,
    #[diesel(sql_type = Json)]
    envelope: serde_json::Value,
    #[diesel(sql_type = Nullable<Text>)]
    traceparent: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    tracestate: Option<String>,
}

/// Removes and returns the events at these positions. The caller holds the streams' locks.
pub(crate) async fn take_held_back(
    mut conn: &AsyncPgConnection,
    positions: &[OrderPosition],
) -> Result<BTreeMap<(OrderId, i64), Incoming>, StoreError> {
    if positions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let all = || positions.iter();
    let rows: Vec<HeldBackRow> = statement(TAKE)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|position| position.order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|position| position.business.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(all().map(|position| position.sequence)))
        .load(&mut conn)
        .await?;
    rows.into_iter().map(HeldBackRow::into_event).collect()
}

impl HeldBackRow {
    fn into_event(self) -> Result<((OrderId, i64), Incoming), StoreError> {
        let tracestate = self.tracestate;
        let trace = self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate });
        let envelope = serde_json::from_value(self.envelope).map_err(corrupt)?;
        Ok(((self.order_id.parse().map_err(corrupt)?, self.sequence), Incoming { envelope, trace }))
    }
}

/// The number of held-back events, and since when the oldest has been held back. Serves all businesses.
pub(crate) async fn held_back_overview(
    conn: &mut AsyncPgConnection,
) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
    Ok(held_back_events::table
        .select((count_star(), min(held_back_events::held_back_at)))
        .first(conn)
        .await?)
}
