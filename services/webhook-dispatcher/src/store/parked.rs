//! Deliveries that are parked while their endpoint is disabled. Events that wait for their predecessors are a different
//! matter: see `held_back`.

use std::collections::{BTreeSet, HashMap};

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::queues::{LockedQueues, Queue};
use crate::domain::ParkedDecision;

/// Counting stops here.
const COUNTED_MAX: i64 = 100_000;
/// Replays pause while the endpoint has this many pending deliveries.
const PENDING_MAX: i64 = 5_000;
/// Parked within a request. The sweeper parks every few seconds, so seldom more are pending.
const PARK_NOW_MAX: i64 = 10_000;

/// Skips deliveries in flight: a later round finds them.
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

/// Parks up to `limit` deliveries of disabled endpoints. Returns their number. Serves all businesses.
pub(crate) async fn park_for_disabled_endpoints(
    conn: &mut AsyncPgConnection,
    limit: i64,
) -> Result<usize, StoreError> {
    Ok(statement(PARK).bind::<BigInt, _>(limit).execute(conn).await?)
}

const PARK_OF: &str = "
UPDATE deliveries SET state = 'parked', due_at = NULL
WHERE business_id = $2 AND id = ANY (ARRAY(
    SELECT id FROM deliveries
    WHERE endpoint_id = $1 AND business_id = $2 AND state = 'pending' AND lease_token IS NULL
    LIMIT $3
    FOR UPDATE SKIP LOCKED))";

/// The same for one endpoint, before its owner enables it or decides on parked deliveries: the sweeper may not have
/// parked the latest ones yet.
pub(crate) async fn park_for_endpoint(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<usize, StoreError> {
    Ok(statement(PARK_OF)
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(PARK_NOW_MAX)
        .execute(conn)
        .await?)
}

/// Oldest first, so an order's events return in their sequence.
const FIND_TO_REPLAY: &str = "
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

/// Restarts the retry schedule.
const REPLAY: &str = "
UPDATE deliveries
SET state = 'pending', due_at = CASE WHEN in_turn THEN NULL ELSE $2 END, earlier_attempts = attempts,
    first_failed_at = NULL, last_failed_at = NULL, endpoint_was_up = false
WHERE id = ANY ($1) AND coalesce(state = 'parked', false)";

/// Replays up to `limit` parked deliveries whose owners decided so. Returns their number. Serves all businesses.
pub(crate) async fn replay_parked(conn: &mut AsyncPgConnection, limit: i64) -> Result<usize, StoreError> {
    let rows: Vec<ParkedRow> =
        statement(FIND_TO_REPLAY).bind::<BigInt, _>(PENDING_MAX).bind::<BigInt, _>(limit).load(conn).await?;
    unpark(conn, REPLAY, rows).await
}

const FIND_TO_DISCARD: &str = "
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

/// Discards up to `limit` parked deliveries whose owners decided so, or whose endpoint was deleted. Returns their
/// number. Serves all businesses.
pub(crate) async fn discard_parked(conn: &mut AsyncPgConnection, limit: i64) -> Result<usize, StoreError> {
    let rows: Vec<ParkedRow> = statement(FIND_TO_DISCARD).bind::<BigInt, _>(limit).load(conn).await?;
    unpark(conn, DISCARD, rows).await
}

/// Runs the statement on these deliveries, and advances the queues behind them.
async fn unpark(
    conn: &mut AsyncPgConnection,
    sql: &'static str,
    rows: Vec<ParkedRow>,
) -> Result<usize, StoreError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let queues: BTreeSet<Queue> =
        rows.iter().filter_map(|row| row.queue().transpose()).collect::<Result<_, _>>()?;
    let locked = LockedQueues::lock(conn, queues.iter().map(|queue| queue.order)).await?;
    let now = super::now(conn).await?;
    let changed = statement(sql)
        .bind::<Array<Text>, _>(Vec::from_iter(rows.into_iter().map(|row| row.id)))
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    locked.advance(conn, &Vec::from_iter(queues), now).await?;
    Ok(changed)
}

const QUEUE_OF: &str = "
SELECT id, endpoint_id, order_id, in_turn FROM deliveries
WHERE business_id = $1 AND id = $2 AND coalesce(state = 'parked', false)";

/// Locks the queue that a parked delivery blocks, before the delivery is taken out of it. None if the delivery is not
/// parked or not part of a queue.
pub(crate) async fn lock_queue_of_parked_delivery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: WebhookDeliveryId,
) -> Result<(LockedQueues, Option<Queue>), StoreError> {
    let row: Option<ParkedRow> = statement(QUEUE_OF)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .get_result(conn)
        .await
        .optional()?;
    let queue = row.as_ref().map(ParkedRow::queue).transpose()?.flatten();
    Ok((LockedQueues::lock(conn, queue.map(|queue| queue.order)).await?, queue))
}

const CLEAR: &str = "
UPDATE endpoint_health SET parked_fate = NULL
WHERE parked_fate IS NOT NULL
  AND NOT EXISTS (SELECT FROM deliveries WHERE endpoint_id = endpoint_health.endpoint_id AND state = 'parked')";

/// A decision applies to the deliveries that are parked when it is made, not to later ones. Serves all businesses.
pub(crate) async fn clear_parked_decisions(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    statement(CLEAR).execute(conn).await?;
    Ok(())
}

const DECIDE: &str =
    "UPDATE endpoint_health SET parked_fate = $3 WHERE endpoint_id = $1 AND business_id = $2";

pub(crate) async fn set_parked_decision(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    decision: ParkedDecision,
) -> Result<(), StoreError> {
    let decision: &'static str = decision.into();
    statement(DECIDE)
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(decision)
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

/// The number of parked deliveries per endpoint, at most 100,000.
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
