//! Writes down the retries that were seen, and forgets failures after a day.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, OrderId};
use postgres::StoreError;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::domain::{FailedRequest, KeyHash, Replay, Retry, RetryProof, made_good};
use crate::retries::Seen;
use crate::store::retries;

/// What is seen within this time is written together, so that a flood of failures costs a few small transactions a second.
const GATHER: Duration = Duration::from_millis(250);
const BATCH_MAX: usize = 256;
/// Remembered of one business.
const FAILURES_MAX: i64 = 100;
const FAILURES_KEPT: TimeDelta = TimeDelta::hours(24);
const PRUNE_EVERY: Duration = Duration::from_secs(600);
/// Businesses in one round.
const PRUNED_MAX: i64 = 1_000;
/// Looked through for a success, from the oldest failure on.
const ORDERS_MAX: i64 = 10_000;

/// A worker, until it is stopped; then it writes what is left.
pub async fn note_retries(app: Arc<App>, mut seen: Receiver<Seen>, stop: CancellationToken) {
    let mut prunings = tokio::time::interval(PRUNE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = prunings.tick() => {
                if let Err(error) = prune(&app).await {
                    tracing::warn!(%error, "old failures of test requests stay until the next round");
                }
            }
            Some(first) = seen.recv() => {
                // A stop cuts the wait short.
                let _gathered = stop.run_until_cancelled(tokio::time::sleep(GATHER)).await;
                write(&app, Some(first), &mut seen).await;
            }
        }
    }
    write(&app, None, &mut seen).await;
}

/// Whoever was seen was answered long ago: what cannot be written is lost, and told in the log.
async fn write(app: &App, first: Option<Seen>, seen: &mut Receiver<Seen>) {
    let mut batch: Vec<Seen> = first.into_iter().collect();
    while batch.len() < BATCH_MAX
        && let Ok(next) = seen.try_recv()
    {
        batch.push(next);
    }
    let (mut failed, mut replays): (Vec<FailedRequest>, Vec<Replay>) = (Vec::new(), Vec::new());
    for one in batch {
        match one {
            Seen::Failed(request) => failed.push(request),
            Seen::Replayed(replay) => replays.push(replay),
        }
    }
    let written: Result<(), StoreError> = app
        .database
        .transaction(async |conn| {
            retries::add_failed(conn, &failed, FAILURES_MAX).await?;
            retries::add_replays(conn, &replays).await
        })
        .await;
    match written {
        Ok(()) => {
            for replay in replays {
                app.retries.note_proved(replay.business_id, Retry::Duplicate);
            }
        }
        Err(error) => tracing::warn!(%error, "retries that were seen could not be written down"),
    }
}

/// What is proved of a business, looked for among its failures when that is still open.
///
/// # Errors
/// When the database cannot answer.
pub async fn proved(app: &App, business: BusinessId) -> Result<Vec<RetryProof>, StoreError> {
    let proofs: Vec<RetryProof> = app.database.transaction(async |conn| prove(conn, business).await).await?;
    for proof in &proofs {
        app.retries.note_proved(business, proof.kind);
    }
    Ok(proofs)
}

/// A success is not looked for when it happens, which would cost every test order; the orders are there to be asked.
async fn prove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<Vec<RetryProof>, StoreError> {
    let mut proofs = retries::proved(conn, business).await?;
    if proofs.iter().any(|proof| proof.kind == Retry::Failure) {
        return Ok(proofs);
    }
    let failed = retries::failed_of(conn, business, FAILURES_MAX).await?;
    let Some(oldest) = failed.iter().map(|request| request.at).min() else { return Ok(proofs) };
    let keys: Vec<KeyHash> = failed.iter().map(|request| request.key).collect();
    let placed = retries::placed_since(conn, business, OrderId::first_of(oldest), &keys, ORDERS_MAX).await?;
    if let Some(proof) = made_good(&failed, &placed) {
        retries::add_proof(conn, business, &proof).await?;
        retries::forget_failed(conn, business, None).await?;
        proofs.push(proof);
    }
    Ok(proofs)
}

/// Before failures are forgotten, they are looked at once more: nobody may have asked for a day.
async fn prune(app: &App) -> Result<(), StoreError> {
    let before = app.ambient.clock.now() - FAILURES_KEPT;
    let businesses =
        app.database.read(async |conn| retries::with_old_failures(conn, before, PRUNED_MAX).await).await?;
    for business in businesses {
        let forgotten: Result<(), StoreError> = app
            .database
            .transaction(async |conn| {
                prove(conn, business).await?;
                retries::forget_failed(conn, business, Some(before)).await
            })
            .await;
        forgotten?;
    }
    Ok(())
}
