//! Stores observed retries in batches, and deletes old failures. A loop of its own: it stores the rest of the queue
//! when the service stops.

use std::sync::Arc;
use std::time::Duration;

use chassis::Chassis;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;

use crate::commands::retry_evidence::{prune, store};
use crate::retry_evidence::Observation;
use crate::state::State;

/// Observations within this time share a transaction, so that many failures cause only a few transactions per second.
const GATHER: Duration = Duration::from_millis(250);
const BATCH_MAX: usize = 256;
const PRUNE_EVERY: Duration = Duration::from_secs(600);

pub fn start(chassis: &mut Chassis, state: &Arc<State>, observations: Receiver<Observation>) {
    let state = Arc::clone(state);
    chassis.worker("retry-evidence", |stop| run(state, observations, stop));
}

async fn run(state: Arc<State>, mut observations: Receiver<Observation>, stop: CancellationToken) {
    let mut prunings = tokio::time::interval(PRUNE_EVERY);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = prunings.tick() => {
                if let Err(error) = prune(&state).await {
                    tracing::warn!(%error, "pruning failed test requests failed; retrying in the next round");
                }
            }
            Some(first) = observations.recv() => {
                // A stop ends the delay.
                let _stopped = stop.run_until_cancelled(tokio::time::sleep(GATHER)).await;
                store_queued(&state, Some(first), &mut observations).await;
            }
        }
    }
    store_queued(&state, None, &mut observations).await;
}

/// A batch that cannot be stored is lost: its requests were answered long ago.
async fn store_queued(state: &State, first: Option<Observation>, observations: &mut Receiver<Observation>) {
    let mut batch: Vec<Observation> = first.into_iter().collect();
    while batch.len() < BATCH_MAX
        && let Ok(next) = observations.try_recv()
    {
        batch.push(next);
    }
    if let Err(error) = store(state, &batch).await {
        tracing::warn!(%error, observations = batch.len(), "storing retry evidence failed");
    }
}
