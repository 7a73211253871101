//! What happens to the jobs of a batch that was rolled back: each is tried in a transaction of its own, so that a bad
//! job fails alone, and a job that waits for a lock waits alone.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Apply;
use super::lane::{Caller, Crew};
use crate::StoreError;
use crate::lease::Undone;

/// Jobs tried at the same time in the first round.
const BRISK_MAX: usize = 4;
/// Jobs that wait for a lock at the same time in the second round, each holding a connection.
const PATIENT_MAX: usize = 2;
/// The first round passes by what is locked; the second, in the background, waits for it.
const BEGIN_BRISK: &str = "BEGIN; SET LOCAL lock_timeout = '50ms'";
const BEGIN_PATIENT: &str = "BEGIN; SET LOCAL lock_timeout = '1s'";

/// The bounds of the second round.
pub(super) struct Alone {
    /// Jobs in it.
    places: Arc<Semaphore>,
    /// Jobs in it that are running.
    turns: Arc<Semaphore>,
}

impl Alone {
    pub(super) fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), turns: Arc::new(Semaphore::new(PATIENT_MAX)) }
    }
}

/// Returns when each job had its first try. Those that met a lock go on in the background, within bounds, while the
/// lane takes its next batch.
pub(super) async fn try_one_by_one<A>(
    crew: &Arc<Crew<A>>,
    jobs: impl Iterator<Item = (A::Job, Caller<A::Outcome>)>,
) where
    A: Apply,
{
    stream::iter(jobs).for_each_concurrent(BRISK_MAX, |(job, caller)| try_briskly(crew, job, caller)).await;
}

async fn try_briskly<A>(crew: &Arc<Crew<A>>, job: A::Job, caller: Caller<A::Outcome>)
where
    A: Apply,
{
    if caller.waited_too_long() {
        return caller.refuse();
    }
    match crew.run(BEGIN_BRISK, std::slice::from_ref(&job)).await {
        Err(Undone::RolledBack(error)) if error.is_unavailable() => {
            match crew.alone.places.clone().try_acquire_owned() {
                Ok(place) => drop(tokio::spawn(try_patiently(crew.clone(), job, caller, place))),
                Err(_) => caller.answer(Err(error)),
            }
        }
        outcome => caller.answer(single(outcome)),
    }
}

async fn try_patiently<A>(
    crew: Arc<Crew<A>>,
    job: A::Job,
    caller: Caller<A::Outcome>,
    _place: OwnedSemaphorePermit,
) where
    A: Apply,
{
    let Ok(_turn) = crew.alone.turns.acquire().await else { return };
    if caller.waited_too_long() {
        return caller.refuse();
    }
    let outcome = crew.run(BEGIN_PATIENT, std::slice::from_ref(&job)).await;
    caller.answer(single(outcome));
}

fn single<R>(outcome: Result<Vec<R>, Undone<StoreError>>) -> Result<R, StoreError> {
    let mut outcomes = outcome.map_err(Undone::into_error)?;
    outcomes.pop().ok_or_else(|| StoreError::Corrupt("a job without an outcome".into()))
}
