//! Keeps the log as long as it is to be kept: makes the days of attempts ahead, drops those that are too old, and prunes
//! deliveries and events that ended before, and the streams of orders that are long over. Of several instances one does
//! it at a time.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::store;

const EVERY: Duration = Duration::from_secs(3_600);
/// After a fault, or while another instance is at it.
const AGAIN: Duration = Duration::from_secs(60);
/// Days that are made ahead. Should nobody make any for so long, attempts gather where they have no day.
const DAYS_AHEAD: u64 = 3;
/// In one transaction.
const PORTION_MAX: i64 = 1_000;
/// How long an order's place in its events is remembered. An event that comes later yet is taken for one of a new order,
/// and waits for those before it; so this is more than an order takes, cash and returns included.
const STREAM_DAYS: i64 = 400;
/// Between portions, so that a first pruning of millions takes no more than its share of the database.
const BREATH: Duration = Duration::from_millis(20);
/// Days without a partition that one look makes up for.
const STRAY_DAYS_MAX: usize = 100;

pub(crate) async fn keep(app: App, stop: CancellationToken) {
    let mut pause = Duration::ZERO;
    while tokio::time::timeout(pause, stop.cancelled()).await.is_err() {
        pause = match look(&app, &stop).await {
            Ok(true) => EVERY,
            Ok(false) => AGAIN,
            Err(error) => {
                tracing::warn!(%error, "the log was not looked after; trying again");
                AGAIN
            }
        };
    }
}

/// False when another instance is at it.
async fn look(app: &App, stop: &CancellationToken) -> Result<bool, StoreError> {
    let now = app.clock.now();
    let kept_since = now - TimeDelta::days(i64::from(app.retention_days));
    if !make_days(app, now).await? || !house_strays(app, kept_since).await? {
        return Ok(false);
    }
    drop_days(app, kept_since).await?;
    let deliveries = prune(app, stop, Old::Deliveries, kept_since).await?;
    let events = prune(app, stop, Old::Events, kept_since).await?;
    let streams = prune(app, stop, Old::Streams, now - TimeDelta::days(STREAM_DAYS)).await?;
    if deliveries + events + streams > 0 {
        tracing::info!(deliveries, events, streams, "what is over for long was pruned");
    }
    Ok(true)
}

/// Makes what is missing of today and the days ahead, each in a short transaction of its own.
async fn make_days(app: &App, now: DateTime<Utc>) -> Result<bool, StoreError> {
    for ahead in 0..=DAYS_AHEAD {
        let Some(day) = now.date_naive().checked_add_days(Days::new(ahead)) else { continue };
        if !make_day(app, day).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn make_day(app: &App, day: NaiveDate) -> Result<bool, StoreError> {
    let work = async |conn: &mut AsyncPgConnection| {
        if !store::try_lock_retention(conn).await? {
            return Ok(false);
        }
        let known = store::partitions(conn).await?;
        if !known.iter().any(|partition| partition.covers(day)) {
            store::add_partition(conn, day).await?;
            tracing::info!(%day, "a day was made for attempts");
        }
        Ok::<_, StoreError>(true)
    };
    app.database.transaction(work).await
}

/// Attempts that were made on a day that nobody had made yet.
async fn house_strays(app: &App, kept_since: DateTime<Utc>) -> Result<bool, StoreError> {
    app.database.read(async |conn| store::drop_strays(conn, kept_since).await).await?;
    for _ in 0..STRAY_DAYS_MAX {
        let (count, day) = app.database.read(async |conn| store::attempts_without_day(conn).await).await?;
        metrics::gauge!("webhook_attempts_in_default_partition")
            .set(i32::try_from(count).map_or(f64::MAX, f64::from));
        let Some(day) = day else { return Ok(true) };
        tracing::error!(count, %day, "attempts were made on a day that had not been made; it is made up for");
        if !make_day(app, day).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn drop_days(app: &App, kept_since: DateTime<Utc>) -> Result<(), StoreError> {
    let all = app.database.read(async |conn| store::partitions(conn).await).await?;
    for old in all.iter().filter(|partition| partition.until <= kept_since) {
        let work = async |conn: &mut AsyncPgConnection| {
            if store::try_lock_retention(conn).await? {
                store::drop_partition(conn, old).await?;
                tracing::info!(partition = old.name, "attempts were dropped with their day");
            }
            Ok::<_, StoreError>(())
        };
        app.database.transaction(work).await?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Old {
    Deliveries,
    Events,
    Streams,
}

/// Portion after portion, to the end.
async fn prune(
    app: &App,
    stop: &CancellationToken,
    old: Old,
    before: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let (mut after, mut pruned) = (String::new(), 0);
    while !stop.is_cancelled() {
        let work = async |conn: &mut AsyncPgConnection| match old {
            Old::Deliveries => store::prune_deliveries(conn, &after, before, PORTION_MAX).await,
            Old::Events => store::prune_events(conn, &after, before, PORTION_MAX).await,
            Old::Streams => store::prune_streams(conn, &after, before, PORTION_MAX).await,
        };
        let (last, count) = app.database.transaction(work).await?;
        pruned += count;
        let Some(last) = last else { break };
        after = last;
        tokio::time::sleep(BREATH).await;
    }
    Ok(pruned)
}
