//! Stores the evidence that businesses have tested their retries, and finds proofs in it.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, OrderId};
use postgres::StoreError;

use crate::domain::{FailedRequest, KeyHash, Replay, RetryKind, RetryProof, first_retry_after_failure};
use crate::retry_evidence::Observation;
use crate::state::State;
use crate::store::retry_evidence;

/// Per business.
const FAILURES_MAX: i64 = 100;
const FAILURES_KEPT: TimeDelta = TimeDelta::hours(24);
/// Businesses per pruning.
const PRUNED_MAX: i64 = 1_000;
/// Orders to search for a success, from the oldest failure on.
const ORDERS_MAX: i64 = 10_000;

pub async fn store(state: &State, batch: &[Observation]) -> Result<(), StoreError> {
    let (mut failed, mut replays): (Vec<FailedRequest>, Vec<Replay>) = (Vec::new(), Vec::new());
    for observation in batch {
        match observation {
            Observation::Failed(request) => failed.push(*request),
            Observation::Replayed(replay) => replays.push(*replay),
        }
    }
    let add = async |conn: &mut _| -> Result<(), StoreError> {
        retry_evidence::add_failures(conn, &failed, FAILURES_MAX).await?;
        retry_evidence::add_replays(conn, &replays).await
    };
    state.unit.database.transaction(add).await?;
    for replay in &replays {
        state.retry_evidence.set_proved(replay.business_id, RetryKind::Duplicate);
    }
    Ok(())
}

/// The proofs of a business.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_proofs(state: &State, business: BusinessId) -> Result<Vec<RetryProof>, StoreError> {
    let proofs: Vec<RetryProof> =
        state.unit.database.transaction(async |conn| prove(conn, business).await).await?;
    for proof in &proofs {
        state.retry_evidence.set_proved(business, proof.kind);
    }
    Ok(proofs)
}

/// Searches for a success after a failure here and not at each order, because that would slow down all test orders.
async fn prove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<Vec<RetryProof>, StoreError> {
    let mut proofs = retry_evidence::proofs(conn, business).await?;
    if proofs.iter().any(|proof| proof.kind == RetryKind::Failure) {
        return Ok(proofs);
    }
    let failed = retry_evidence::failures(conn, business, FAILURES_MAX).await?;
    let Some(oldest) = failed.iter().map(|request| request.at).min() else { return Ok(proofs) };
    let keys: Vec<KeyHash> = failed.iter().map(|request| request.key).collect();
    let from = OrderId::first_of(oldest);
    let placed = retry_evidence::placed_since(conn, business, from, &keys, ORDERS_MAX).await?;
    if let Some(proof) = first_retry_after_failure(&failed, &placed) {
        retry_evidence::add_proof(conn, business, &proof).await?;
        retry_evidence::delete_failures(conn, business, None).await?;
        proofs.push(proof);
    }
    Ok(proofs)
}

/// Deletes old failures, after a last search for a proof.
pub async fn prune(state: &State) -> Result<(), StoreError> {
    let database = &state.unit.database;
    let before = state.unit.clock.now() - FAILURES_KEPT;
    let businesses =
        database.read(async |conn| retry_evidence::with_old_failures(conn, before, PRUNED_MAX).await).await?;
    for business in businesses {
        let prune = async |conn: &mut AsyncPgConnection| -> Result<(), StoreError> {
            prove(conn, business).await?;
            retry_evidence::delete_failures(conn, business, Some(before)).await
        };
        database.transaction(prune).await?;
    }
    Ok(())
}
