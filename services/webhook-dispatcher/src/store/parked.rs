//! Deliveries that are parked while their endpoint is disabled, and what becomes of them. Not to be confused with events
//! that wait for their predecessors (`streams`).

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::queues::{Queue, advance};
use super::streams::lock_streams;
use crate::domain::ParkedFate;

/// No more than this is counted for a page.
const COUNTED_MAX: i64 = 100_000;
/// While so many deliveries of an endpoint are pending, no more are replayed.
const PENDING_MAX: i64 = 5_000;
/// While an owner waits. What is more has come in the few seconds since the latest round of the sweeper.
const PARKED_AT_ONCE_MAX: i64 = 10_000;

/// What is being sent at this moment is left to its sender, and found the next time.
const PARK: &str = "
UPDATE deliveries SET state = 'parked', due_at = NULL
FROM (
    SELECT waiting.id, endpoints.business_id
    FROM endpoint_health
    JOIN endpoints ON endpoints.id = endpoint_health.endpoint_id AND endpoints.business_id = endpoint_health.business_id
        AND endpoints.deleted_at IS NULL
    CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'pending' AND lease_token IS NULL
        LIMIT $1
        FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE endpoint_health.disabled_at IS NOT NULL
    LIMIT $1
) AS waiting
WHERE deliveries.id = waiting.id AND deliveries.business_id = waiting.business_id";

/// Parks up to `limit` deliveries whose endpoint is disabled; tells how many. Serves all businesses.
pub(crate) async fn park_of_disabled(conn: &mut AsyncPgConnection, limit: i64) -> Result<usize, StoreError> {
    Ok(statement(PARK).bind::<BigInt, _>(limit).execute(conn).await?)
}

const PARK_OF: &str = "
UPDATE deliveries SET state = 'parked', due_at = NULL
WHERE business_id = $2 AND id = ANY (ARRAY(
    SELECT id FROM deliveries
    WHERE endpoint_id = $1 AND business_id = $2 AND state = 'pending' AND lease_token IS NULL
    LIMIT $3
    FOR UPDATE SKIP LOCKED))";

/// The same for one endpoint, at once: for one who enables it, or decides on what is parked, and must not be surprised by what
/// nobody has parked yet.
pub(crate) async fn park_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<usize, StoreError> {
    Ok(statement(PARK_OF)
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(PARKED_AT_ONCE_MAX)
        .execute(conn)
        .await?)
}

/// The oldest first: an order's events then come back in their sequence.
const FIND: &str = "
SELECT parked.id, parked.endpoint_id, parked.order_id, parked.in_turn
FROM endpoint_health
CROSS JOIN LATERAL (
    SELECT id, endpoint_id, order_id, in_turn FROM deliveries
    WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'parked'
    ORDER BY id
    LIMIT $1 - (SELECT count(*) FROM (
        SELECT FROM deliveries WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'pending' LIMIT $1) AS pending)
) AS parked
WHERE endpoint_health.parked_fate = 'replay' AND endpoint_health.disabled_at IS NULL
LIMIT $2";

#[derive(QueryableByName)]
struct ParkedRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Nullable<Text>)]
    order_id: Option<String>,
    #[diesel(sql_type = Bool)]
    in_turn: bool,
}

impl ParkedRow {
    fn queue(&self) -> Result<Option<Queue>, StoreError> {
        let Some(order) = self.order_id.as_ref().filter(|_| self.in_turn) else { return Ok(None) };
        let (order, endpoint) = (order.parse().map_err(corrupt)?, self.endpoint_id.parse().map_err(corrupt)?);
        Ok(Some(Queue { order, endpoint }))
    }
}

/// The retry schedule begins anew.
const REPLAY: &str = "
UPDATE deliveries
SET state = 'pending', due_at = CASE WHEN in_turn THEN NULL ELSE $2 END, earlier_attempts = attempts,
    first_failed_at = NULL, last_failed_at = NULL, endpoint_was_up = false
WHERE id = ANY ($1) AND coalesce(state = 'parked', false)";

/// Takes up to `limit` parked deliveries up again whose owners want it; tells how many. Serves all businesses.
pub(crate) async fn replay_parked(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<usize, StoreError> {
    let rows: Vec<ParkedRow> =
        statement(FIND).bind::<BigInt, _>(PENDING_MAX).bind::<BigInt, _>(limit).load(conn).await?;
    move_on(conn, REPLAY, rows, now).await
}

const FIND_UNWANTED: &str = "
SELECT parked.id, parked.endpoint_id, parked.order_id, parked.in_turn
FROM endpoint_health
JOIN endpoints ON endpoints.id = endpoint_health.endpoint_id AND endpoints.business_id = endpoint_health.business_id
CROSS JOIN LATERAL (
    SELECT id, endpoint_id, order_id, in_turn FROM deliveries
    WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'parked'
    ORDER BY id
    LIMIT $1
) AS parked
WHERE endpoint_health.parked_fate = 'discard' OR endpoints.deleted_at IS NOT NULL
LIMIT $1";

const DISCARD: &str = "
UPDATE deliveries
SET state = 'discarded', completed_at = $2, last_error = 'not sent: it was discarded while the endpoint was disabled'
WHERE id = ANY ($1) AND coalesce(state = 'parked', false)";

/// Discards up to `limit` parked deliveries whose owners want it, or whose endpoint was deleted; tells how many. Serves all
/// businesses.
pub(crate) async fn discard_parked(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<usize, StoreError> {
    let rows: Vec<ParkedRow> = statement(FIND_UNWANTED).bind::<BigInt, _>(limit).load(conn).await?;
    move_on(conn, DISCARD, rows, now).await
}

/// Ends the parking of these with the statement, and lets what waits behind them go on.
async fn move_on(
    conn: &mut AsyncPgConnection,
    sql: &'static str,
    rows: Vec<ParkedRow>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let queues: BTreeSet<Queue> =
        rows.iter().filter_map(|row| row.queue().transpose()).collect::<Result<_, _>>()?;
    let orders: BTreeSet<OrderId> = queues.iter().map(|queue| queue.order).collect();
    lock_streams(conn, orders).await?;
    let moved = statement(sql)
        .bind::<Array<Text>, _>(Vec::from_iter(rows.into_iter().map(|row| row.id)))
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    advance(conn, &Vec::from_iter(queues), now).await?;
    Ok(moved)
}

const QUEUE_OF: &str = "
SELECT id, endpoint_id, order_id, in_turn FROM deliveries
WHERE business_id = $1 AND id = $2 AND coalesce(state = 'parked', false)";

/// The queue that a parked delivery holds up, with its lock: for one who is about to take the delivery out of it. None when it
/// is not parked, or takes no turn.
pub(crate) async fn lock_queue_of_parked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<Option<Queue>, StoreError> {
    let row: Option<ParkedRow> = statement(QUEUE_OF)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .get_result(conn)
        .await
        .optional()?;
    let queue = row.as_ref().map(ParkedRow::queue).transpose()?.flatten();
    lock_streams(conn, queue.map(|queue| queue.order)).await?;
    Ok(queue)
}

const FORGET: &str = "
UPDATE endpoint_health SET parked_fate = NULL
WHERE parked_fate IS NOT NULL
  AND NOT EXISTS (SELECT FROM deliveries WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'parked')";

/// What was asked for holds for what is parked now, not for what will be. Serves all businesses.
pub(crate) async fn forget_fates(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    statement(FORGET).execute(conn).await?;
    Ok(())
}

const DECIDE: &str =
    "UPDATE endpoint_health SET parked_fate = $3 WHERE endpoint_id = $1 AND business_id = $2";

pub(crate) async fn decide_parked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    fate: ParkedFate,
) -> Result<(), StoreError> {
    let fate: &'static str = fate.into();
    statement(DECIDE)
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(fate)
        .execute(conn)
        .await?;
    Ok(())
}

const COUNT: &str = "
SELECT wanted.id, (SELECT count(*) FROM (
    SELECT FROM deliveries WHERE endpoint_id = wanted.id AND business_id = $2 AND state = 'parked' LIMIT $3) AS parked
) AS count
FROM unnest($1) AS wanted (id)";

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// How many deliveries are parked for each; 100,000 stands for more.
pub(super) async fn count_parked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoints: &[String],
) -> Result<HashMap<EndpointId, i64>, StoreError> {
    let rows: Vec<CountRow> = statement(COUNT)
        .bind::<Array<Text>, _>(endpoints)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(COUNTED_MAX)
        .load(conn)
        .await?;
    rows.into_iter().map(|row| Ok((row.id.parse().map_err(corrupt)?, row.count))).collect()
}
