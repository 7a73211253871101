//! Applies the retention period to the log: creates the daily partitions of attempts ahead, drops expired ones, and
//! prunes completed deliveries, their events, and the streams of old orders.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::state::State;
use crate::store;

/// Partitions created ahead. If none is created for so long, attempts go to the default partition.
const DAYS_AHEAD: u64 = 3;
/// Rows per transaction.
const BATCH_MAX: i64 = 1_000;
/// How long an order's stream is remembered. A later event would look like one of a new order and be held back, so this
/// exceeds the life of any order, including cash and returns.
const STREAM_DAYS: i64 = 400;
/// Between batches: pruning millions of rows must leave capacity to others.
const BATCH_PAUSE: Duration = Duration::from_millis(20);
/// Missing partitions that one run creates.
const MISSING_DAYS_MAX: usize = 100;

/// Returns false while another instance applies it.
///
/// # Errors
/// When the database is unreachable.
pub(crate) async fn apply_retention(state: &State, stop: &CancellationToken) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let kept_since = now - TimeDelta::days(i64::from(state.retention_days));
    if !create_partitions_ahead(state, now).await? || !empty_default_partition(state, kept_since).await? {
        return Ok(false);
    }
    drop_expired_partitions(state, kept_since).await?;
    let deliveries = prune(state, stop, Table::Deliveries, kept_since).await?;
    let events = prune(state, stop, Table::Events, kept_since).await?;
    let streams = prune(state, stop, Table::Streams, now - TimeDelta::days(STREAM_DAYS)).await?;
    if deliveries + events + streams > 0 {
        tracing::info!(deliveries, events, streams, "expired log entries pruned");
    }
    Ok(true)
}

/// Each in a short transaction of its own.
async fn create_partitions_ahead(state: &State, now: DateTime<Utc>) -> Result<bool, StoreError> {
    for ahead in 0..=DAYS_AHEAD {
        let Some(day) = now.date_naive().checked_add_days(Days::new(ahead)) else { continue };
        if !create_partition(state, day).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn create_partition(state: &State, day: NaiveDate) -> Result<bool, StoreError> {
    let work = async |conn: &mut AsyncPgConnection| {
        if !store::try_lock_retention(conn).await? {
            return Ok(false);
        }
        let known = store::partitions(conn).await?;
        if !known.iter().any(|partition| partition.covers(day)) {
            store::add_partition(conn, day).await?;
            tracing::info!(%day, "partition of attempts created");
        }
        Ok::<_, StoreError>(true)
    };
    state.unit.database.transaction(work).await
}

/// Moves attempts that were made on a day without a partition.
async fn empty_default_partition(state: &State, kept_since: DateTime<Utc>) -> Result<bool, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::delete_expired_in_default_partition(conn, kept_since).await).await?;
    for _ in 0..MISSING_DAYS_MAX {
        let (count, day) =
            database.read(async |conn| store::attempts_in_default_partition(conn).await).await?;
        metrics::gauge!("webhook_attempts_in_default_partition")
            .set(i32::try_from(count).map_or(f64::MAX, f64::from));
        let Some(day) = day else { return Ok(true) };
        tracing::error!(count, %day, "attempts found without a partition; creating it");
        if !create_partition(state, day).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn drop_expired_partitions(state: &State, kept_since: DateTime<Utc>) -> Result<(), StoreError> {
    let all = state.unit.database.read(async |conn| store::partitions(conn).await).await?;
    for expired in all.iter().filter(|partition| partition.until <= kept_since) {
        let work = async |conn: &mut AsyncPgConnection| {
            if store::try_lock_retention(conn).await? {
                store::drop_partition(conn, expired).await?;
                tracing::info!(partition = expired.name, "expired partition of attempts dropped");
            }
            Ok::<_, StoreError>(())
        };
        state.unit.database.transaction(work).await?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Table {
    Deliveries,
    Events,
    Streams,
}

/// Prunes in batches, to the end of the table.
async fn prune(
    state: &State,
    stop: &CancellationToken,
    table: Table,
    before: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let (mut after, mut pruned) = (String::new(), 0);
    while !stop.is_cancelled() {
        let work = async |conn: &mut AsyncPgConnection| match table {
            Table::Deliveries => store::prune_deliveries(conn, &after, before, BATCH_MAX).await,
            Table::Events => store::prune_events(conn, &after, before, BATCH_MAX).await,
            Table::Streams => store::prune_streams(conn, &after, before, BATCH_MAX).await,
        };
        let (last, count) = state.unit.database.transaction(work).await?;
        pruned += count;
        let Some(last) = last else { break };
        after = last;
        tokio::time::sleep(BATCH_PAUSE).await;
    }
    Ok(pruned)
}
