//! Recoveries send missed webhooks again. A batch and its progress commit in one transaction under the lock of the
//! recovery's row: an interrupted batch has no effect, and any instance continues from there.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, OrderId, RecoveryId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::queues::{LockedQueues, Queue};
use super::schema::recoveries;
use crate::domain::{Recovery, RecoveryState};

#[derive(Queryable, Selectable)]
#[diesel(table_name = recoveries, check_for_backend(diesel::pg::Pg))]
struct RecoveryRow {
    id: String,
    business_id: String,
    endpoint_id: String,
    since: DateTime<Utc>,
    until: DateTime<Utc>,
    state: String,
    total: i64,
    done: i64,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
}

fn recovery(row: RecoveryRow) -> Result<Recovery, StoreError> {
    Ok(Recovery {
        id: row.id.parse().map_err(corrupt)?,
        business_id: row.business_id.parse().map_err(corrupt)?,
        endpoint_id: row.endpoint_id.parse().map_err(corrupt)?,
        since: row.since,
        until: row.until,
        state: row.state.parse().map_err(corrupt)?,
        total: row.total,
        done: row.done,
        created_at: row.created_at,
        ended_at: row.ended_at,
    })
}

/// Missed deliveries: failed ones, and those discarded because the endpoint did not subscribe to the event, if it does
/// now. Deliveries that completed after the recovery began are excluded: it has sent them, or the owner has. `$1` to
/// `$5` are the business, the endpoint, the bounds of the ids, and the beginning of the recovery.
macro_rules! missed {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM deliveries
              JOIN endpoints ON endpoints.id = deliveries.endpoint_id AND endpoints.business_id = deliveries.business_id
              JOIN events ON events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
              WHERE deliveries.business_id = $1 AND deliveries.endpoint_id = $2
                AND deliveries.id >= $3 AND deliveries.id < $4 AND deliveries.completed_at <= $5
                AND deliveries.state IN ('failed', 'discarded') AND deliveries.kind <> 'webhook.test'
                AND (deliveries.state = 'failed'
                    OR (deliveries.last_error = 'not sent: the endpoint no longer subscribes to such events'
                        AND deliveries.kind = ANY (endpoints.events) AND events.mode = ANY (endpoints.modes)))"
        )
    };
}

/// Counts one batch after `$6`.
const COUNT: &str = concat!(
    "SELECT count(*) AS count, max(id) AS last FROM (",
    missed!("deliveries.id"),
    " AND deliveries.id > $6 ORDER BY deliveries.id LIMIT $7) AS portion"
);
/// Deliveries per statement: an endpoint may have missed millions.
const COUNT_MAX: i64 = 10_000;

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = Nullable<Text>)]
    last: Option<String>,
}

impl Counted {
    /// Where the count continues; none if it is complete.
    fn continue_after(self) -> Option<String> {
        self.last.filter(|_| self.count == COUNT_MAX)
    }
}

async fn count(
    conn: &mut AsyncPgConnection,
    (business, endpoint): (BusinessId, EndpointId),
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    begun_at: DateTime<Utc>,
    after: &str,
) -> Result<Counted, StoreError> {
    Ok(statement(COUNT)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Text, _>(WebhookDeliveryId::first_of(since).to_string())
        .bind::<Text, _>(WebhookDeliveryId::first_of(until).to_string())
        .bind::<Timestamptz, _>(begun_at)
        .bind::<Text, _>(after)
        .bind::<BigInt, _>(COUNT_MAX)
        .get_result(conn)
        .await?)
}

const INSERT: &str = "
    INSERT INTO recoveries (
        id, business_id, endpoint_id, since, until, state, total, done, after_id, due_at, created_at, counted_id,
        scanned_id)
    VALUES ($1, $2, $3, $4, $5, 'running', $6, 0, '', $7, $7, $8, '')
    ON CONFLICT (endpoint_id, business_id) WHERE state = 'running' DO NOTHING";

/// Returns none if another recovery of the endpoint is running. The total covers only the first batch: [`count_batch`]
/// and [`super::add_newly_subscribed`] add to it.
pub(crate) async fn begin_recovery(
    conn: &mut AsyncPgConnection,
    (business, endpoint): (BusinessId, EndpointId),
    id: RecoveryId,
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    now: DateTime<Utc>,
) -> Result<Option<Recovery>, StoreError> {
    let counted = count(conn, (business, endpoint), (since, until), now, "").await?;
    let begun = statement(INSERT)
        .bind::<Text, _>(id.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(endpoint.to_string())
        .bind::<Timestamptz, _>(since)
        .bind::<Timestamptz, _>(until)
        .bind::<BigInt, _>(counted.count)
        .bind::<Timestamptz, _>(now)
        .bind::<Nullable<Text>, _>(counted.continue_after())
        .execute(conn)
        .await?;
    if begun == 0 { Ok(None) } else { find_recovery(conn, business, endpoint, id).await }
}

pub(crate) async fn find_recovery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    id: RecoveryId,
) -> Result<Option<Recovery>, StoreError> {
    let row: Option<RecoveryRow> = recoveries::table
        .filter(recoveries::business_id.eq(business.to_string()))
        .filter(recoveries::endpoint_id.eq(endpoint.to_string()))
        .filter(recoveries::id.eq(id.to_string()))
        .select(RecoveryRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(recovery).transpose()
}

/// Newest first, after the given one.
pub(crate) async fn list_recoveries(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    after: Option<RecoveryId>,
    limit: i64,
) -> Result<Vec<Recovery>, StoreError> {
    let rows: Vec<RecoveryRow> = recoveries::table
        .filter(recoveries::business_id.eq(business.to_string()))
        .filter(recoveries::endpoint_id.eq(endpoint.to_string()))
        .filter(recoveries::id.lt(after.unwrap_or(RecoveryId::MAX).to_string()))
        .select(RecoveryRow::as_select())
        .order(recoveries::id.desc())
        .limit(limit)
        .load(conn)
        .await?;
    rows.into_iter().map(recovery).collect()
}

const END: &str = "
    UPDATE recoveries SET state = $3, ended_at = $4, due_at = NULL
    WHERE business_id = $1 AND id = $2 AND state = 'running'";

/// Returns false if it had already ended.
pub(crate) async fn end_recovery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: RecoveryId,
    state: RecoveryState,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let state: &'static str = state.into();
    let ended = statement(END)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .bind::<Text, _>(state)
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    Ok(ended == 1)
}

/// A locked recovery with its progress.
pub(crate) struct DueRecovery {
    pub recovery: Recovery,
    after: String,
    /// The last counted delivery; none if all are counted.
    pub(super) counted: Option<String>,
    /// The last scanned event of the business; none if all are scanned.
    pub(super) scanned: Option<String>,
    pub(super) endpoint_created_at: DateTime<Utc>,
    pub endpoint_deleted: bool,
    /// How many more pending deliveries the endpoint may have.
    pub room: i64,
}

const DUE: &str = "
    SELECT job.id, job.business_id, job.endpoint_id, job.after_id, job.counted_id, job.scanned_id,
        endpoints.created_at AS endpoint_created_at, endpoints.deleted_at IS NOT NULL AS endpoint_deleted,
        $2 - (SELECT count(*) FROM (
            SELECT FROM deliveries WHERE endpoint_id = job.endpoint_id AND state = 'pending' LIMIT $2) AS pending) AS room
    FROM recoveries AS job JOIN endpoints ON endpoints.id = job.endpoint_id AND endpoints.business_id = job.business_id
    WHERE job.state = 'running' AND job.due_at <= $1
    ORDER BY job.due_at LIMIT 1
    FOR UPDATE OF job SKIP LOCKED";

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    after_id: String,
    #[diesel(sql_type = Nullable<Text>)]
    counted_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    scanned_id: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    endpoint_created_at: DateTime<Utc>,
    #[diesel(sql_type = Bool)]
    endpoint_deleted: bool,
    #[diesel(sql_type = BigInt)]
    room: i64,
}

/// Locks the recovery that has waited longest. Skips those that another instance has locked. There is room while its
/// endpoint has fewer than `pending_max` pending deliveries. Serves all businesses.
pub(crate) async fn lock_due_recovery(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    pending_max: i64,
) -> Result<Option<DueRecovery>, StoreError> {
    let row: Option<DueRow> = statement(DUE)
        .bind::<Timestamptz, _>(now)
        .bind::<BigInt, _>(pending_max)
        .get_result(conn)
        .await
        .optional()?;
    let Some(row) = row else { return Ok(None) };
    let business = row.business_id.parse().map_err(corrupt)?;
    let endpoint = row.endpoint_id.parse().map_err(corrupt)?;
    let found = find_recovery(conn, business, endpoint, row.id.parse().map_err(corrupt)?).await?;
    let recovery = found.ok_or_else(|| corrupt("a locked recovery does not exist"))?;
    Ok(Some(DueRecovery {
        recovery,
        after: row.after_id,
        counted: row.counted_id,
        scanned: row.scanned_id,
        endpoint_created_at: row.endpoint_created_at,
        endpoint_deleted: row.endpoint_deleted,
        room: row.room,
    }))
}

const COUNTED: &str = "
    UPDATE recoveries SET total = total + $3, counted_id = $4 WHERE business_id = $1 AND id = $2";

/// Counts the next batch. Counting stays ahead of sending because its batches are larger. The caller holds the
/// recovery's lock.
pub(crate) async fn count_batch(conn: &mut AsyncPgConnection, due: &DueRecovery) -> Result<(), StoreError> {
    let Some(after) = &due.counted else { return Ok(()) };
    let job = &due.recovery;
    let key = (job.business_id, job.endpoint_id);
    let counted = count(conn, key, (job.since, job.until), job.created_at, after).await?;
    statement(COUNTED)
        .bind::<Text, _>(job.business_id.to_string())
        .bind::<Text, _>(job.id.to_string())
        .bind::<BigInt, _>(counted.count)
        .bind::<Nullable<Text>, _>(counted.continue_after())
        .execute(conn)
        .await?;
    Ok(())
}

const MISSED: &str = concat!(
    missed!("deliveries.id, deliveries.order_id"),
    " AND deliveries.id > $6 ORDER BY deliveries.id LIMIT $7"
);

#[derive(QueryableByName)]
struct MissedRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Nullable<Text>)]
    order_id: Option<String>,
}

/// Restarts the retry schedule. Deliveries of an order return to its queue.
const SEND_AGAIN: &str = "
    UPDATE deliveries
    SET state = 'pending', in_turn = order_id IS NOT NULL, due_at = CASE WHEN order_id IS NULL THEN $3 END,
        earlier_attempts = attempts, completed_at = NULL, first_failed_at = NULL, last_failed_at = NULL,
        endpoint_was_up = false, skipped_at = NULL
    WHERE business_id = $1 AND id = ANY ($2) AND state IN ('failed', 'discarded')";

const ADVANCE: &str = "
    UPDATE recoveries SET after_id = $3, done = done + $4, due_at = $5 WHERE business_id = $1 AND id = $2";

/// Sends the next batch again, as far as there is room. Returns its size; none at the end. The caller holds the
/// recovery's lock.
pub(crate) async fn recover_batch(
    conn: &mut AsyncPgConnection,
    due: &DueRecovery,
    batch_max: i64,
    now: DateTime<Utc>,
) -> Result<Option<usize>, StoreError> {
    let (job, business) = (&due.recovery, due.recovery.business_id.to_string());
    let rows: Vec<MissedRow> = statement(MISSED)
        .bind::<Text, _>(business.as_str())
        .bind::<Text, _>(job.endpoint_id.to_string())
        .bind::<Text, _>(WebhookDeliveryId::first_of(job.since).to_string())
        .bind::<Text, _>(WebhookDeliveryId::first_of(job.until).to_string())
        .bind::<Timestamptz, _>(job.created_at)
        .bind::<Text, _>(due.after.as_str())
        .bind::<BigInt, _>(batch_max.min(due.room))
        .load(conn)
        .await?;
    let Some(last) = rows.last().map(|row| row.id.clone()) else { return Ok(None) };
    let orders: BTreeSet<OrderId> = rows
        .iter()
        .filter_map(|row| row.order_id.as_deref())
        .map(|order| order.parse().map_err(corrupt))
        .collect::<Result<_, _>>()?;
    let locked = LockedQueues::lock(conn, orders.iter().copied()).await?;
    let sent = statement(SEND_AGAIN)
        .bind::<Text, _>(business.as_str())
        .bind::<Array<Text>, _>(Vec::from_iter(rows.into_iter().map(|row| row.id)))
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    let queue = |order| Queue { order, endpoint: job.endpoint_id };
    locked.advance(conn, &Vec::from_iter(orders.into_iter().map(queue)), now).await?;
    statement(ADVANCE)
        .bind::<Text, _>(business)
        .bind::<Text, _>(job.id.to_string())
        .bind::<Text, _>(last)
        .bind::<BigInt, _>(i64::try_from(sent).map_err(corrupt)?)
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    Ok(Some(sent))
}

const POSTPONE: &str = "UPDATE recoveries SET due_at = $3 WHERE business_id = $1 AND id = $2";

/// Lets other recoveries continue. The caller holds the recovery's lock.
pub(crate) async fn postpone_recovery(
    conn: &mut AsyncPgConnection,
    job: &Recovery,
    until: DateTime<Utc>,
) -> Result<(), StoreError> {
    statement(POSTPONE)
        .bind::<Text, _>(job.business_id.to_string())
        .bind::<Text, _>(job.id.to_string())
        .bind::<Timestamptz, _>(until)
        .execute(conn)
        .await?;
    Ok(())
}
