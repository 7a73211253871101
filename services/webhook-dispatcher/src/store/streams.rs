//! Streams: how far each order's events have been released. The stream's row is the lock of everything about the order.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::{StoreError, statement};

use super::corrupt;

/// How far an order's events have been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub business_id: BusinessId,
    /// All events below have been released.
    pub next_sequence: i64,
    /// When the order's personal data was erased.
    pub erased_at: Option<DateTime<Utc>>,
}

const FIND: &str = "
    SELECT stream.order_id, stream.business_id, stream.next_sequence, stream.personal_data_erased_at
    FROM unnest($1, $2) AS known (order_id, business_id)
    JOIN order_streams AS stream ON stream.order_id = known.order_id AND stream.business_id = known.business_id";

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

/// Locks the existing streams of these orders. Serves all businesses: an order of another business must not look like a
/// new one.
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
    read(rows)
}

/// The existing streams of these orders, without locks.
pub(crate) async fn find_streams(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<BTreeMap<OrderId, Stream>, StoreError> {
    let rows: Vec<StreamRow> = statement(FIND)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .load(&mut conn)
        .await?;
    read(rows)
}

fn read(rows: Vec<StreamRow>) -> Result<BTreeMap<OrderId, Stream>, StoreError> {
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

/// Creates the streams of new orders, sorted by order. Fails as unavailable if another instance has just created one of
/// them: the retry of the event finds it.
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
    Err(StoreError::Unavailable("another instance has just created the stream of an order".into()))
}

/// An upsert that always finds its row: the planner can only look up each order.
const ADVANCE: &str = "
    INSERT INTO order_streams AS stream (order_id, business_id, next_sequence)
    SELECT * FROM unnest($1, $2, $3)
    ON CONFLICT (order_id, business_id) DO UPDATE SET next_sequence = excluded.next_sequence
    WHERE stream.next_sequence < excluded.next_sequence";

/// The caller holds the streams' locks.
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

const CLEAR_ERASURES: &str = "
    UPDATE order_streams AS stream SET personal_data_erased_at = NULL
    FROM unnest($1, $2) AS anew (order_id, business_id)
    WHERE stream.order_id = anew.order_id AND stream.business_id = anew.business_id";

/// For orders that were placed again. The caller holds the streams' locks.
pub(crate) async fn clear_erasures(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<(), StoreError> {
    if orders.is_empty() {
        return Ok(());
    }
    statement(CLEAR_ERASURES)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .execute(&mut conn)
        .await?;
    Ok(())
}
