//! The index of the search: it follows the placed orders of all businesses, so its queries name none. Each row names the
//! business of its order.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::statement;

use super::StoreError;
use super::fleet::complete_until;
use crate::domain::{Order, Searchable};

/// A placement: the time of its event by the database's clock, and its order.
#[derive(Clone, Debug, QueryableByName)]
pub struct Position {
    #[diesel(sql_type = Timestamptz)]
    pub feed_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    pub order_id: String,
}

/// A placed order that is not indexed yet.
#[derive(QueryableByName)]
pub struct Placed {
    #[diesel(embed)]
    pub position: Position,
    #[diesel(sql_type = Text)]
    business_id: String,
    /// `None` for an event without its order. The position moves on, so that the search never stops.
    #[diesel(sql_type = Nullable<Text>)]
    order_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    phone: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    city: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    pincode: Option<String>,
}

const POSITION: &str = "SELECT feed_at, order_id FROM order_search_position";
const LOCK: &str = "SELECT feed_at, order_id FROM order_search_position FOR UPDATE";

/// The last indexed placement.
pub async fn position(conn: &mut AsyncPgConnection) -> Result<Position, StoreError> {
    Ok(statement(POSITION).get_result(conn).await?)
}

/// As [`position`], locked until the transaction ends. Erasures wait for it, and read what it has indexed.
pub async fn lock_position(conn: &mut AsyncPgConnection) -> Result<Position, StoreError> {
    Ok(statement(LOCK).get_result(conn).await?)
}

/// The time before which no more placements can appear. Needs a connection without a transaction.
pub async fn complete(conn: &mut AsyncPgConnection) -> Result<DateTime<Utc>, StoreError> {
    complete_until(conn).await
}

const NEXT_AT: &str = "
    SELECT feed_at, order_id FROM order_events
    WHERE sequence = 1 AND feed_at >= $1 AND feed_at < $2 AND (feed_at, order_id) > ($1, $3)
    ORDER BY feed_at, order_id LIMIT 1";

/// The first placement that is not indexed, if there is one.
pub async fn first_after(
    conn: &mut AsyncPgConnection,
    position: &Position,
    complete: DateTime<Utc>,
) -> Result<Option<Position>, StoreError> {
    let first = statement(NEXT_AT)
        .bind::<Timestamptz, _>(position.feed_at)
        .bind::<Timestamptz, _>(complete)
        .bind::<Text, _>(position.order_id.clone());
    Ok(first.get_result(conn).await.optional()?)
}

const NEXT: &str = "
    WITH next AS MATERIALIZED (
        SELECT feed_at, order_id, business_id FROM order_events
        WHERE sequence = 1 AND feed_at >= $1 AND feed_at < $2 AND (feed_at, order_id) > ($1, $3)
        ORDER BY feed_at, order_id LIMIT $4
    )
    SELECT next.feed_at, next.order_id, next.business_id, orders.order_reference,
        details -> 'customer' ->> 'name' AS name, details -> 'customer' ->> 'phone' AS phone,
        details -> 'delivery' ->> 'city' AS city, details -> 'delivery' ->> 'pincode' AS pincode
    FROM next
    LEFT JOIN orders ON orders.id = next.order_id AND orders.business_id = next.business_id
    ORDER BY next.feed_at, next.order_id";

/// The next placed orders.
pub async fn next(
    conn: &mut AsyncPgConnection,
    position: &Position,
    complete: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<Placed>, StoreError> {
    let next = statement(NEXT)
        .bind::<Timestamptz, _>(position.feed_at)
        .bind::<Timestamptz, _>(complete)
        .bind::<Text, _>(position.order_id.clone())
        .bind::<BigInt, _>(limit);
    Ok(next.load(conn).await?)
}

const INSERT: &str = "
    INSERT INTO order_search (order_id, business_id, words)
    SELECT order_id, business_id, array_to_tsvector(ARRAY(
        SELECT right(business_id, 6) || word FROM unnest(string_to_array(words, ' ')) AS word))
    FROM unnest($1, $2, $3) AS new (order_id, business_id, words)
    ON CONFLICT DO NOTHING";

const SAVE: &str = "UPDATE order_search_position SET feed_at = $1, order_id = $2";

/// Indexes these orders and moves the position behind them. The caller holds its lock.
pub async fn add(conn: &mut AsyncPgConnection, placed: Vec<Placed>) -> Result<(), StoreError> {
    let Some(Position { feed_at, order_id }) = placed.last().map(|last| last.position.clone()) else {
        return Ok(());
    };
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for order in placed {
        let Placed { position, business_id, order_reference, name, phone, city, pincode } = order;
        let Some(order_reference) = order_reference else { continue };
        columns.0.push(position.order_id);
        columns.1.push(business_id);
        columns.2.push(Searchable { order_reference, name, phone, city, pincode }.words());
    }
    statement(INSERT)
        .bind::<Array<Text>, _>(columns.0)
        .bind::<Array<Text>, _>(columns.1)
        .bind::<Array<Text>, _>(columns.2)
        .execute(conn)
        .await?;
    let saved =
        statement(SAVE).bind::<Timestamptz, _>(feed_at).bind::<Text, _>(order_id).execute(conn).await?;
    if saved == 1 { Ok(()) } else { Err(StoreError::Corrupt("the position of the search is missing".into())) }
}

const WAIT: &str = "SELECT FROM order_search_position FOR SHARE";
const REPLACE: &str = "
    UPDATE order_search SET words = array_to_tsvector(ARRAY(
        SELECT right(business_id, 6) || word FROM unnest(string_to_array($3, ' ')) AS word))
    WHERE order_id = $1 AND business_id = $2";

/// Replaces the words of a corrected order. It waits for the worker, which may have read the order before its correction. The
/// worker adds an order without words later, with its corrected details.
pub async fn replace(conn: &mut AsyncPgConnection, order: &Order) -> Result<(), StoreError> {
    statement(WAIT).execute(conn).await?;
    statement(REPLACE)
        .bind::<Text, _>(order.id.to_string())
        .bind::<Text, _>(order.business_id.to_string())
        .bind::<Text, _>(Searchable::of(order).words())
        .execute(conn)
        .await?;
    Ok(())
}
