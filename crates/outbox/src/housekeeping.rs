//! Housekeeping: metrics of the outbox, and the removal of old inbox rows.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Timestamptz};
use diesel_async::RunQueryDsl;
use domain::Clock;
use metrics::gauge;
use postgres::{Database, StoreError, statement};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::Unit;
use crate::floor::Floor;

const REPORT: Duration = Duration::from_secs(10);
const PRUNE: Duration = Duration::from_secs(10 * 60);
/// The broker does not redeliver an event after this time.
const INBOX_KEPT: TimeDelta = TimeDelta::days(7);
/// The number of rows per statement, so that no statement holds locks for long.
const PRUNE_MAX: usize = 1_000;

pub(crate) async fn run(Unit { database, clock, .. }: &Unit, floor: &Floor, stop: &CancellationToken) {
    let mut reports = interval(REPORT);
    let mut prunings = interval(PRUNE);
    reports.set_missed_tick_behavior(MissedTickBehavior::Delay);
    prunings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let outcome = tokio::select! {
            _ = reports.tick() => report(database, clock, floor.get()).await,
            _ = prunings.tick() => prune_inbox(database, clock).await,
            () = stop.cancelled() => return,
        };
        if let Err(error) = outcome {
            // The relay reports an unreachable database; the next round retries.
            tracing::debug!(%error, "outbox housekeeping failed");
        }
    }
}

/// Limits the count, because it runs every few seconds and an outbox may contain millions of rows. The order keeps the
/// planner from collecting all rows first.
const WAITING: &str = "
    SELECT (SELECT count(*) FROM (SELECT FROM outbox_messages WHERE id > $1 ORDER BY id LIMIT 10000) AS counted) AS messages,
        (SELECT created_at FROM outbox_messages WHERE id > $1 ORDER BY id LIMIT 1) AS oldest";

#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = BigInt)]
    messages: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    oldest: Option<DateTime<Utc>>,
}

async fn report(database: &Database, clock: &Clock, floor: i64) -> Result<(), StoreError> {
    let waiting: Waiting = database
        .read(async |conn| {
            Ok::<_, StoreError>(statement(WAITING).bind::<BigInt, _>(floor).get_result(conn).await?)
        })
        .await?;
    let age = waiting.oldest.map_or(TimeDelta::zero(), |oldest| clock.now() - oldest);
    gauge!("outbox_messages").set(waiting.messages as f64);
    gauge!("outbox_oldest_age_seconds").set(age.as_seconds_f64().max(0.0));
    Ok(())
}

/// Removes events that were handled long ago. A relay does this automatically. A service without events, and so without
/// a relay, calls it periodically.
///
/// # Errors
/// When the database fails. The next call continues.
pub async fn prune_inbox(database: &Database, clock: &Clock) -> Result<(), StoreError> {
    let before = clock.now() - INBOX_KEPT;
    loop {
        let pruned = database
            .read(async |conn| {
                let pruning = diesel::sql_query(
                    "DELETE FROM inbox WHERE ctid = ANY (ARRAY(
                         SELECT ctid FROM inbox WHERE seen_at < $1 ORDER BY seen_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
                );
                let pruning = pruning.bind::<Timestamptz, _>(before).bind::<BigInt, _>(PRUNE_MAX as i64);
                Ok::<_, StoreError>(pruning.execute(conn).await?)
            })
            .await?;
        if pruned < PRUNE_MAX {
            return Ok(());
        }
    }
}
