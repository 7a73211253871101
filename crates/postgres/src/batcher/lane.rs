//! The lanes of a batcher: take what waits, run it in one transaction, answer each caller.

use std::sync::Arc;
use std::time::Duration;

use metrics::{counter, histogram};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::alone::Alone;
use super::{Apply, BatcherOptions, Gather, Queued};
use crate::lease::Undone;
use crate::{Database, StoreError};

/// How long a job may wait for its turn. An older one is refused unrun, so that a queue that built up while
/// the database was away does not work through requests whose callers have given up.
const QUEUE_WAIT: Duration = Duration::from_secs(5);
/// How long one transaction may take, waiting for its connection included.
const TRANSACTION: Duration = Duration::from_secs(5);

/// In a batch a lock that someone holds is waited for only briefly: the job that needs it then waits alone, and does
/// not hold up the others.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '250ms'";

/// What the lanes of one batcher share.
pub(super) struct Crew<A: Apply> {
    pub(super) name: &'static str,
    database: Database,
    batch_max: usize,
    gather: Option<Gather>,
    apply: A,
    waiting: Mutex<mpsc::Receiver<Queued<A::Job, A::Outcome>>>,
    pub(super) alone: Alone,
}

pub(super) fn start<A>(
    name: &'static str,
    database: Database,
    options: BatcherOptions,
    apply: A,
    waiting: mpsc::Receiver<Queued<A::Job, A::Outcome>>,
) where
    A: Apply,
{
    let batch_max = options.batch_max.max(1);
    let (gather, alone) = (options.gather, Alone::new(batch_max));
    let crew =
        Arc::new(Crew { name, database, batch_max, gather, apply, waiting: Mutex::new(waiting), alone });
    for _ in 0..options.lanes.max(1) {
        tokio::spawn(lane(crew.clone()));
    }
}

async fn lane<A>(crew: Arc<Crew<A>>)
where
    A: Apply,
{
    loop {
        let batch = crew.next_batch().await;
        if batch.is_empty() {
            return;
        }
        // A task of its own, so that a panic in the work costs its batch and not the lane.
        if let Err(error) = tokio::spawn(run_batch(crew.clone(), batch)).await {
            tracing::error!(batcher = crew.name, %error, "a batch of writes panicked");
        }
    }
}

async fn run_batch<A>(crew: Arc<Crew<A>>, batch: Vec<Queued<A::Job, A::Outcome>>)
where
    A: Apply,
{
    let (jobs, callers) = in_time(crew.name, batch);
    if jobs.is_empty() {
        return;
    }
    histogram!("write_batch_jobs", "batcher" => crew.name)
        .record(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
    match crew.run(BEGIN, &jobs).await {
        Ok(outcomes) => {
            for (caller, outcome) in callers.into_iter().zip(outcomes) {
                caller.answer(Ok(outcome));
            }
        }
        Err(Undone::Unknown(error)) => {
            tracing::warn!(batcher = crew.name, jobs = jobs.len(), %error, "the outcome of a batch is unknown");
            for caller in callers {
                caller.answer(Err(StoreError::Unavailable(error.to_string())));
            }
        }
        Err(Undone::RolledBack(error)) => {
            tracing::debug!(batcher = crew.name, jobs = jobs.len(), %error, "a batch is tried one by one");
            counter!("write_batch_isolated_total", "batcher" => crew.name).increment(1);
            super::alone::try_one_by_one(&crew, jobs.into_iter().zip(callers)).await;
        }
    }
}

impl<A> Crew<A>
where
    A: Apply,
{
    /// None are left when it is empty.
    async fn next_batch(&self) -> Vec<Queued<A::Job, A::Outcome>> {
        let mut batch = Vec::new();
        let mut waiting = self.waiting.lock().await;
        waiting.recv_many(&mut batch, self.batch_max).await;
        let Some(gather) = self.gather else { return batch };
        let until = Instant::now() + gather.at_most;
        while (1..gather.enough).contains(&batch.len()) {
            let room = self.batch_max.saturating_sub(batch.len());
            match timeout_at(until, waiting.recv_many(&mut batch, room)).await {
                Ok(more) if more > 0 => {}
                _ => break,
            }
        }
        batch
    }

    /// Runs the jobs in one transaction.
    pub(super) async fn run(
        &self,
        begin: &str,
        jobs: &[A::Job],
    ) -> Result<Vec<A::Outcome>, Undone<StoreError>> {
        let started = Instant::now();
        let transaction = async {
            let mut lease = self.database.begin(begin).await.map_err(Undone::Unknown)?;
            let connection = lease.connection().map_err(Undone::Unknown)?;
            let outcomes = self.apply.apply(connection, jobs).await;
            let outcomes = outcomes.and_then(|outcomes| one_for_each(jobs.len(), outcomes));
            lease.finish(outcomes).await
        };
        let late = || Undone::Unknown(StoreError::Unavailable("a batch of writes took too long".into()));
        let ended = timeout(TRANSACTION, transaction).await.unwrap_or_else(|_| Err(late()));
        histogram!("write_batch_duration_seconds", "batcher" => self.name).record(started.elapsed());
        ended
    }
}

/// Checked before the commit: a caller must never be given another's outcome.
fn one_for_each<R>(jobs: usize, outcomes: Vec<R>) -> Result<Vec<R>, StoreError> {
    if outcomes.len() == jobs {
        return Ok(outcomes);
    }
    Err(StoreError::Corrupt(format!("{} outcomes for {jobs} jobs", outcomes.len())))
}

/// Who waits for a job.
pub(super) struct Caller<R> {
    answer: oneshot::Sender<Result<R, StoreError>>,
    since: Instant,
}

impl<R> Caller<R> {
    pub(super) fn answer(self, outcome: Result<R, StoreError>) {
        // Nobody listens when the caller went away; the job is done all the same.
        let _gone = self.answer.send(outcome);
    }

    pub(super) fn waited_too_long(&self) -> bool {
        self.since.elapsed() > QUEUE_WAIT
    }

    pub(super) fn refuse(self) {
        self.answer(Err(StoreError::Unavailable("the write waited too long for its turn".into())));
    }
}

/// The jobs whose callers still wait; the others are refused.
fn in_time<J, R>(name: &'static str, batch: Vec<Queued<J, R>>) -> (Vec<J>, Vec<Caller<R>>) {
    let mut jobs = Vec::with_capacity(batch.len());
    let mut callers = Vec::with_capacity(batch.len());
    for Queued { job, answer, since } in batch {
        let caller = Caller { answer, since };
        histogram!("write_batch_wait_seconds", "batcher" => name).record(since.elapsed());
        if caller.waited_too_long() {
            caller.refuse();
        } else {
            jobs.push(job);
            callers.push(caller);
        }
    }
    (jobs, callers)
}
