//! Natural batching of writes: while one transaction is under way, the jobs that arrive queue up, and the next
//! transaction takes them all. One commit then serves many callers, an idle system waits for nobody, and there is no
//! timer to tune; only where nobody waits for an outcome may a batcher [`Gather`]. Whoever waits holds no connection.

mod alone;
mod lane;

use std::time::Duration;

use diesel_async::AsyncPgConnection;
use metrics::counter;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::{Database, StoreError};

/// What a batch does with its jobs.
pub trait Apply: Send + Sync + 'static {
    /// What one caller asks for.
    type Job: Send + Sync + 'static;
    /// What that caller gets.
    type Outcome: Send + 'static;

    /// Applies all jobs in the open transaction, one outcome per job in the same order, locking rows in a sorted order.
    ///
    /// An error undoes the whole batch, whose jobs are then tried one by one, each in a transaction of its own, so that
    /// a bad job fails alone. It may therefore be called again for a job, but never for one that may have committed.
    fn apply(
        &self,
        connection: &mut AsyncPgConnection,
        jobs: &[Self::Job],
    ) -> impl Future<Output = Result<Vec<Self::Outcome>, StoreError>> + Send;
}

#[derive(Clone, Copy, Debug)]
pub struct BatcherOptions {
    /// Jobs in one transaction, at most.
    pub batch_max: usize,
    /// Jobs that may wait; more are refused at once.
    pub queue_max: usize,
    /// Batches under way at the same time.
    pub lanes: usize,
    /// To wait for more jobs before a batch begins.
    pub gather: Option<Gather>,
}

impl Default for BatcherOptions {
    fn default() -> Self {
        Self { batch_max: 128, queue_max: 4_096, lanes: 1, gather: None }
    }
}

/// A batch begins when there are enough jobs, or when the first of them has waited so long: for work whose cost counts
/// more than when it is done.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    pub enough: usize,
    pub at_most: Duration,
}

/// Groups queued jobs into shared transactions: one batch in flight per lane, the next takes whatever queued
/// meanwhile. Clones share the queue; it ends when the last clone is gone and what was queued is done.
pub struct Batcher<J, R> {
    name: &'static str,
    queue: mpsc::Sender<Queued<J, R>>,
}

/// A job and who waits for it.
struct Queued<J, R> {
    job: J,
    answer: oneshot::Sender<Result<R, StoreError>>,
    since: Instant,
}

/// How long [`Batcher::submit`] waits at most: a wait in the queue, a batch, and a turn alone.
const ANSWER_WAIT: Duration = Duration::from_secs(15);

impl<J: Send + Sync + 'static, R: Send + 'static> Batcher<J, R> {
    /// Starts the lanes. `name` labels the metrics.
    pub fn start(
        name: &'static str,
        database: Database,
        options: BatcherOptions,
        apply: impl Apply<Job = J, Outcome = R>,
    ) -> Self {
        counter!("write_batch_jobs_rejected_total", "batcher" => name).increment(0);
        counter!("write_batch_isolated_total", "batcher" => name).increment(0);
        let (queue, waiting) = mpsc::channel(options.queue_max.max(1));
        lane::start(name, database, options, apply, waiting);
        Self { name, queue }
    }

    /// Waits for the job's own outcome. A caller that goes away changes nothing: the job still runs.
    ///
    /// # Errors
    /// Those of the job. [`StoreError::Unavailable`], within 15 s, when the queue is full, the database is away or
    /// time is up; whether the job took effect, or still will within seconds, is then unknown.
    pub async fn submit(&self, job: J) -> Result<R, StoreError> {
        let (answer, outcome) = oneshot::channel();
        let queued = Queued { job, answer, since: Instant::now() };
        if self.queue.try_send(queued).is_err() {
            counter!("write_batch_jobs_rejected_total", "batcher" => self.name).increment(1);
            return Err(StoreError::Unavailable(format!("too many {} writes are waiting", self.name)));
        }
        match timeout(ANSWER_WAIT, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                Err(StoreError::Unavailable(format!("a {} write ended without an outcome", self.name)))
            }
            Err(_) => Err(StoreError::Unavailable(format!("no outcome of a {} write in time", self.name))),
        }
    }
}

impl<J, R> Clone for Batcher<J, R> {
    fn clone(&self) -> Self {
        Self { name: self.name, queue: self.queue.clone() }
    }
}
