//! The order of each order's events: what comes next, and what came too early; for many orders at once. Whose order it
//! is stands in what is given back, and in what is asked for.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::dsl::{count_star, min};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Json, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::{StoreError, statement};
use telemetry::TraceContext;

use super::corrupt;
use super::schema::parked_events;
use crate::domain::{Incoming, PARKED_MAX};

/// How far an order's events have been handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub business_id: BusinessId,
    /// Everything below has been handed on.
    pub next_sequence: i64,
    /// Since when nothing may be kept or sent that tells of the order's people.
    pub erased_at: Option<DateTime<Utc>>,
}

/// The place of an event among those of its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderPlace {
    pub order: OrderId,
    pub business: BusinessId,
    pub sequence: i64,
}

const LOCK: &str = "
    SELECT order_id, business_id, next_sequence, personal_data_erased_at FROM order_streams
    WHERE order_id = ANY ($1)
    ORDER BY order_id
    FOR UPDATE";

#[derive(QueryableByName)]
struct StreamRow {
    #[diesel(sql_type = Text)]
    order_id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = BigInt)]
    next_sequence: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    personal_data_erased_at: Option<DateTime<Utc>>,
}

/// Locks the streams of these orders, as far as they have begun. Serves all businesses: an order that is another's must
/// be told from one that is new.
pub(crate) async fn lock_streams(
    mut conn: &AsyncPgConnection,
    orders: impl IntoIterator<Item = OrderId>,
) -> Result<BTreeMap<OrderId, Stream>, StoreError> {
    let orders: BTreeSet<String> = orders.into_iter().map(|order| order.to_string()).collect();
    if orders.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<StreamRow> =
        statement(LOCK).bind::<Array<Text>, _>(Vec::from_iter(orders)).load(&mut conn).await?;
    rows.into_iter()
        .map(|row| {
            let business_id = row.business_id.parse().map_err(corrupt)?;
            let (next_sequence, erased_at) = (row.next_sequence, row.personal_data_erased_at);
            let stream = Stream { business_id, next_sequence, erased_at };
            Ok((row.order_id.parse().map_err(corrupt)?, stream))
        })
        .collect()
}

const BEGIN: &str = "
    INSERT INTO order_streams (order_id, business_id, next_sequence)
    SELECT * FROM unnest($1, $2, $3)
    ON CONFLICT DO NOTHING";

/// Begins the streams of new orders, each where it stands after this transaction. Unavailable when another instance has
/// begun one of them meanwhile: it is known when the event is tried again. Wants them sorted by order.
pub(crate) async fn begin_streams(
    conn: &AsyncPgConnection,
    streams: &[(OrderId, Stream)],
) -> Result<(), StoreError> {
    if streams.is_empty() {
        return Ok(());
    }
    let begun = write(conn, BEGIN, streams).await?;
    if begun == streams.len() {
        return Ok(());
    }
    Err(StoreError::Unavailable("another instance has just met an order's first event".into()))
}

/// An upsert that always finds its row: it cannot be planned as anything but a look-up per order.
const ADVANCE: &str = "
    INSERT INTO order_streams AS stream (order_id, business_id, next_sequence)
    SELECT * FROM unnest($1, $2, $3)
    ON CONFLICT (order_id, business_id) DO UPDATE SET next_sequence = excluded.next_sequence
    WHERE stream.next_sequence < excluded.next_sequence";

/// Wants the streams' locks.
pub(crate) async fn advance_streams(
    conn: &AsyncPgConnection,
    streams: &[(OrderId, Stream)],
) -> Result<(), StoreError> {
    if streams.is_empty() {
        return Ok(());
    }
    let advanced = write(conn, ADVANCE, streams).await?;
    if advanced == streams.len() { Ok(()) } else { Err(corrupt("a stream did not advance")) }
}

async fn write(
    mut conn: &AsyncPgConnection,
    sql: &'static str,
    streams: &[(OrderId, Stream)],
) -> Result<usize, StoreError> {
    let all = || streams.iter();
    Ok(statement(sql)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(_, stream)| stream.business_id.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(all().map(|(_, stream)| stream.next_sequence)))
        .execute(&mut conn)
        .await?)
}

const FORGET_ERASURES: &str = "
    UPDATE order_streams AS stream SET personal_data_erased_at = NULL
    FROM unnest($1, $2) AS anew (order_id, business_id)
    WHERE stream.order_id = anew.order_id AND stream.business_id = anew.business_id";

/// Of orders that were begun anew. Wants the streams' locks.
pub(crate) async fn forget_erasures(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<(), StoreError> {
    if orders.is_empty() {
        return Ok(());
    }
    statement(FORGET_ERASURES)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .execute(&mut conn)
        .await?;
    Ok(())
}

const PARKED: &str = "
    SELECT known.order_id, parked.sequence
    FROM unnest($1, $2) AS known (order_id, business_id)
    CROSS JOIN LATERAL (
        SELECT sequence FROM parked_events
        WHERE order_id = known.order_id AND business_id = known.business_id
        ORDER BY sequence
        LIMIT $3
    ) AS parked";

#[derive(QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = Text)]
    order_id: String,
    #[diesel(sql_type = BigInt)]
    sequence: i64,
}

/// The places that are taken by parked events. Wants the streams' locks.
pub(crate) async fn parked_places(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<BTreeMap<OrderId, BTreeSet<i64>>, StoreError> {
    let mut places: BTreeMap<OrderId, BTreeSet<i64>> = BTreeMap::new();
    if orders.is_empty() {
        return Ok(places);
    }
    let rows: Vec<PlaceRow> = statement(PARKED)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .bind::<BigInt, _>(i64::try_from(PARKED_MAX).map_err(corrupt)?)
        .load(&mut conn)
        .await?;
    for row in rows {
        places.entry(row.order_id.parse().map_err(corrupt)?).or_default().insert(row.sequence);
    }
    Ok(places)
}

const PARK: &str = "
    INSERT INTO parked_events (
        order_id, sequence, event_id, business_id, envelope, traceparent, tracestate, parked_at)
    SELECT new.*, $8 FROM unnest($1, $2, $3, $4, $5, $6, $7) AS new";

/// Keeps events until their turn. Wants the streams' locks.
pub(crate) async fn park(
    mut conn: &AsyncPgConnection,
    events: &[(OrderPlace, &Incoming)],
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
    statement(PARK)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(place, _)| place.order.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(all().map(|(place, _)| place.sequence)))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(_, event)| event.envelope.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|(place, _)| place.business.to_string())))
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
    DELETE FROM parked_events AS parked
    USING unnest($1, $2, $3) AS due (order_id, business_id, sequence)
    WHERE parked.order_id = due.order_id AND parked.business_id = due.business_id AND parked.sequence = due.sequence
    RETURNING parked.order_id, parked.sequence, parked.envelope, parked.traceparent, parked.tracestate";

#[derive(QueryableByName)]
struct ParkedRow {
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

/// The events parked at these places, which are free again afterwards. Wants the streams' locks.
pub(crate) async fn take_parked(
    conn: &mut AsyncPgConnection,
    places: &[OrderPlace],
) -> Result<BTreeMap<(OrderId, i64), Incoming>, StoreError> {
    if places.is_empty() {
        return Ok(BTreeMap::new());
    }
    let all = || places.iter();
    let rows: Vec<ParkedRow> = statement(TAKE)
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|place| place.order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(all().map(|place| place.business.to_string())))
        .bind::<Array<BigInt>, _>(Vec::from_iter(all().map(|place| place.sequence)))
        .load(conn)
        .await?;
    rows.into_iter().map(ParkedRow::into_event).collect()
}

impl ParkedRow {
    fn into_event(self) -> Result<((OrderId, i64), Incoming), StoreError> {
        let tracestate = self.tracestate;
        let trace = self.traceparent.map(|traceparent| TraceContext { traceparent, tracestate });
        let envelope = serde_json::from_value(self.envelope).map_err(corrupt)?;
        Ok(((self.order_id.parse().map_err(corrupt)?, self.sequence), Incoming { envelope, trace }))
    }
}

/// How many events of all businesses are parked, and since when the oldest. For the operator's alerts.
pub(crate) async fn parked_overview(
    conn: &mut AsyncPgConnection,
) -> Result<(i64, Option<DateTime<Utc>>), StoreError> {
    Ok(parked_events::table.select((count_star(), min(parked_events::parked_at))).first(conn).await?)
}
