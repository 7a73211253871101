//! Retries the jobs of a rolled-back batch, each in its own transaction: an invalid job fails alone, and a job that waits
//! for a lock delays no other job.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Apply;
use super::lane::{BatcherState, Caller};
use crate::StoreError;
use crate::lease::Undone;

/// Concurrent jobs in the first round.
const FIRST_ROUND_MAX: usize = 4;
/// Concurrent jobs in the second round. Each waits for a lock and holds a connection.
const SECOND_ROUND_MAX: usize = 2;
/// The first round skips locked rows; the second round waits for them in the background.
const BEGIN_FIRST_ROUND: &str = "BEGIN; SET LOCAL lock_timeout = '50ms'";
const BEGIN_SECOND_ROUND: &str = "BEGIN; SET LOCAL lock_timeout = '1s'";

/// The limits of the second round.
pub(super) struct SecondRound {
    /// Jobs in the second round.
    slots: Arc<Semaphore>,
    /// Running jobs of the second round.
    running: Arc<Semaphore>,
}

impl SecondRound {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), running: Arc::new(Semaphore::new(SECOND_ROUND_MAX)) }
    }
}

/// Returns when each job had its first try. Jobs that met a lock continue in the background while the lane takes its next
/// batch.
pub(super) async fn try_one_by_one<A>(
    batcher: &Arc<BatcherState<A>>,
    jobs: impl Iterator<Item = (A::Job, Caller<A::Outcome>)>,
) where
    A: Apply,
{
    stream::iter(jobs)
        .for_each_concurrent(FIRST_ROUND_MAX, |(job, caller)| try_in_first_round(batcher, job, caller))
        .await;
}

async fn try_in_first_round<A>(batcher: &Arc<BatcherState<A>>, job: A::Job, caller: Caller<A::Outcome>)
where
    A: Apply,
{
    if caller.waited_too_long() {
        return caller.refuse();
    }
    match batcher.run(Some(BEGIN_FIRST_ROUND), std::slice::from_ref(&job)).await {
        Err(Undone::RolledBack(error)) if error.is_unavailable() => {
            match batcher.second_round.slots.clone().try_acquire_owned() {
                Ok(place) => drop(tokio::spawn(try_in_second_round(batcher.clone(), job, caller, place))),
                Err(_) => caller.answer(Err(error)),
            }
        }
        outcome => caller.answer(single(outcome)),
    }
}

async fn try_in_second_round<A>(
    batcher: Arc<BatcherState<A>>,
    job: A::Job,
    caller: Caller<A::Outcome>,
    _place: OwnedSemaphorePermit,
) where
    A: Apply,
{
    let Ok(_turn) = batcher.second_round.running.acquire().await else { return };
    if caller.waited_too_long() {
        return caller.refuse();
    }
    let outcome = batcher.run(Some(BEGIN_SECOND_ROUND), std::slice::from_ref(&job)).await;
    caller.answer(single(outcome));
}

fn single<R>(outcome: Result<Vec<R>, Undone<StoreError>>) -> Result<R, StoreError> {
    let mut outcomes = outcome.map_err(Undone::into_error)?;
    outcomes.pop().ok_or_else(|| StoreError::Corrupt("the batch returned no outcome for a job".into()))
}
