//! The lanes of a batcher: take queued jobs, run them in one transaction, answer each caller.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, try_join};
use metrics::{counter, histogram};
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::one_by_one::SecondRound;
use super::{Apply, BatcherOptions, Gather, Queued};
use crate::after_commit::{AfterCommit, collecting};
use crate::lease::{Lease, Undone, begin_untracked};
use crate::{Database, StoreError};

/// How long a job may wait in the queue. Older jobs are rejected without running: after a database outage, their callers
/// have given up.
const QUEUE_WAIT: Duration = Duration::from_secs(5);
/// The time limit of a transaction, including the wait for its connection.
const TRANSACTION: Duration = Duration::from_secs(5);

/// How long a broken connection is replaced by another.
const BEGIN_RETRIED: Duration = Duration::from_secs(2);

/// A batch waits only briefly for a lock. The job that needs it then waits alone and does not delay the others.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '250ms'";

/// The same for a batch that is a single statement, as the first table of its `WITH`. In a transaction that has a shorter
/// limit than the session's 3 s, that one stays.
#[macro_export]
macro_rules! brief_locks {
    () => {
        "WITH limits AS MATERIALIZED (
            SELECT set_config('lock_timeout',
                CASE current_setting('lock_timeout') WHEN '3s' THEN '250ms' ELSE current_setting('lock_timeout') END, true))"
    };
}

/// The state that the lanes of a batcher share.
pub(super) struct BatcherState<A: Apply> {
    pub(super) name: &'static str,
    database: Database,
    batch_max: usize,
    gather: Option<Gather>,
    hurry: Arc<Notify>,
    apply: A,
    waiting: Mutex<mpsc::Receiver<Queued<A::Job, A::Outcome>>>,
    pub(super) second_round: SecondRound,
}

pub(super) fn start<A>(
    (name, database): (&'static str, Database),
    options: BatcherOptions,
    apply: A,
    waiting: mpsc::Receiver<Queued<A::Job, A::Outcome>>,
    hurry: Arc<Notify>,
) where
    A: Apply,
{
    let batch_max = options.batch_max.max(1);
    let (gather, second_round) = (options.gather, SecondRound::new(batch_max));
    let batcher = Arc::new(BatcherState {
        name,
        database,
        batch_max,
        gather,
        hurry,
        apply,
        waiting: Mutex::new(waiting),
        second_round,
    });
    for _ in 0..options.lanes.max(1) {
        tokio::spawn(lane(batcher.clone()));
    }
}

async fn lane<A>(batcher: Arc<BatcherState<A>>)
where
    A: Apply,
{
    loop {
        let batch = batcher.next_batch().await;
        if batch.is_empty() {
            return;
        }
        // A separate task, so that a panic fails the batch but not the lane.
        if let Err(error) = tokio::spawn(run_batch(batcher.clone(), batch)).await {
            tracing::error!(batcher = batcher.name, %error, "write batch panicked");
        }
    }
}

async fn run_batch<A>(batcher: Arc<BatcherState<A>>, batch: Vec<Queued<A::Job, A::Outcome>>)
where
    A: Apply,
{
    let (jobs, callers) = in_time(batcher.name, batch);
    if jobs.is_empty() {
        return;
    }
    histogram!("write_batch_jobs", "batcher" => batcher.name)
        .record(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
    let begin = (!batcher.apply.is_single_statement(&jobs)).then_some(BEGIN);
    match batcher.run(begin, &jobs).await {
        Ok(outcomes) => {
            for (caller, outcome) in callers.into_iter().zip(outcomes) {
                caller.answer(Ok(outcome));
            }
        }
        Err(Undone::Unknown(error)) => {
            tracing::warn!(batcher = batcher.name, jobs = jobs.len(), %error, "outcome of a write batch unknown");
            for caller in callers {
                caller.answer(Err(StoreError::Unavailable(error.to_string())));
            }
        }
        Err(Undone::RolledBack(error)) => {
            tracing::debug!(batcher = batcher.name, jobs = jobs.len(), %error, "write batch rolled back; retrying its jobs one by one");
            counter!("write_batch_isolated_total", "batcher" => batcher.name).increment(1);
            super::one_by_one::try_one_by_one(&batcher, jobs.into_iter().zip(callers)).await;
        }
    }
}

impl<A> BatcherState<A>
where
    A: Apply,
{
    /// The next jobs; empty when the batcher is closed.
    async fn next_batch(&self) -> Vec<Queued<A::Job, A::Outcome>> {
        let mut batch = Vec::new();
        let mut waiting = self.waiting.lock().await;
        waiting.recv_many(&mut batch, self.batch_max).await;
        let Some(gather) = self.gather else { return batch };
        let until = Instant::now() + gather.at_most;
        while (1..gather.enough).contains(&batch.len()) {
            let room = self.batch_max.saturating_sub(batch.len());
            tokio::select! {
                more = waiting.recv_many(&mut batch, room) => if more == 0 { break },
                () = self.hurry.notified() => break,
                () = sleep_until(until) => break,
            }
        }
        batch
    }

    /// Runs the jobs in one transaction, or without one.
    pub(super) async fn run(
        &self,
        begin: Option<&str>,
        jobs: &[A::Job],
    ) -> Result<Vec<A::Outcome>, Undone<StoreError>> {
        let started = Instant::now();
        let transaction = async {
            let Some(begin) = begin else {
                let outcomes = self.database.read(async |conn| self.apply.apply(conn, jobs).await).await;
                return outcomes.and_then(|outcomes| one_for_each(jobs.len(), outcomes)).map_err(undone);
            };
            let (lease, outcomes, after_commit) = self.begun(begin, jobs).await.map_err(Undone::Unknown)?;
            let outcomes = outcomes.and_then(|outcomes| one_for_each(jobs.len(), outcomes));
            let outcomes = lease.finish(outcomes).await?;
            after_commit.run();
            Ok(outcomes)
        };
        let late = || Undone::Unknown(StoreError::Unavailable("the write batch timed out".into()));
        let ended = timeout(TRANSACTION, transaction).await.unwrap_or_else(|_| Err(late()));
        histogram!("write_batch_duration_seconds", "batcher" => self.name).record(started.elapsed());
        ended
    }

    /// Opens a transaction and applies the jobs. Broken connections are replaced.
    async fn begun(&self, begin: &str, jobs: &[A::Job]) -> Result<Begun<A>, StoreError> {
        if !self.apply.begins_with_reads() {
            let mut lease = self.database.begin(begin).await?;
            let (outcomes, after_commit) = collecting(self.apply.apply(lease.connection()?, jobs)).await;
            return Ok((lease, outcomes, after_commit));
        }
        let deadline = Instant::now() + BEGIN_RETRIED;
        loop {
            let mut lease = self.database.lease().await?;
            let connection = &*lease.connection()?;
            let applied = collecting(self.apply.apply(connection, jobs)).map(Ok);
            // Polled in this order: nothing follows the first statements before `BEGIN` has succeeded.
            match try_join!(begin_untracked(connection, begin), applied) {
                Ok(((), (outcomes, after_commit))) => return Ok((lease, outcomes, after_commit)),
                Err(error) if !error.is_unavailable() || Instant::now() >= deadline => return Err(error),
                Err(error) => tracing::debug!(%error, "pooled connection broken; taking another"),
            }
        }
    }
}

/// A transaction in which the jobs were applied.
type Begun<A> = (Lease, Result<Vec<<A as Apply>::Outcome>, StoreError>, AfterCommit);

/// A statement without a transaction that the server rejected has no effect.
fn undone(error: StoreError) -> Undone<StoreError> {
    if error.is_rolled_back() { Undone::RolledBack(error) } else { Undone::Unknown(error) }
}

/// Checked before the commit, because a caller must never get another caller's outcome.
fn one_for_each<R>(jobs: usize, outcomes: Vec<R>) -> Result<Vec<R>, StoreError> {
    if outcomes.len() == jobs {
        return Ok(outcomes);
    }
    Err(StoreError::Corrupt(format!("the batch returned {} outcomes for {jobs} jobs", outcomes.len())))
}

/// The caller of a job.
pub(super) struct Caller<R> {
    answer: oneshot::Sender<Result<R, StoreError>>,
    since: Instant,
}

impl<R> Caller<R> {
    pub(super) fn answer(self, outcome: Result<R, StoreError>) {
        // The caller may have gone. The job runs all the same.
        let _gone = self.answer.send(outcome);
    }

    pub(super) fn waited_too_long(&self) -> bool {
        self.since.elapsed() > QUEUE_WAIT
    }

    pub(super) fn refuse(self) {
        self.answer(Err(StoreError::Busy("the write waited too long for its turn".into())));
    }
}

/// The jobs that are still in time; rejects the others.
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
