//! Natural batching of writes: jobs that arrive during a transaction queue up, and the next transaction runs them all. One
//! commit serves many callers. Batches start immediately; [`Gather`] adds a short delay when no caller awaits the
//! result. A queued job holds no connection.

mod lane;
mod one_by_one;

use std::sync::Arc;
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use metrics::counter;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::{Database, StoreError};

/// How a batch runs its jobs.
pub trait Apply: Send + Sync + 'static {
    /// The input of one caller.
    type Job: Send + Sync + 'static;
    /// The result for that caller.
    type Outcome: Send + 'static;

    /// Runs all jobs in the open transaction and returns one outcome per job in the same order. Locks rows in sorted
    /// order.
    ///
    /// An error rolls back the batch. Its jobs are then retried one by one in their own transactions, so that an invalid
    /// job fails alone. A job may therefore run again, but never after a possible commit.
    fn apply(
        &self,
        connection: &AsyncPgConnection,
        jobs: &[Self::Job],
    ) -> impl Future<Output = Result<Vec<Self::Outcome>, StoreError>> + Send;

    /// Whether `apply` runs one statement for these jobs, or only reads. Then it gets no transaction, which saves two
    /// round trips. A statement that may wait for locks begins with
    /// [`brief_locks!`](crate::brief_locks).
    fn is_single_statement(&self, jobs: &[Self::Job]) -> bool {
        let _ = jobs;
        false
    }

    /// Whether the first statements of `apply`, up to its first wait for an answer, only read and lock. Then `BEGIN` is
    /// sent together with them, which saves a round trip. They must not write: if `BEGIN` fails, they run outside of the
    /// transaction. No later statement is sent then.
    fn begins_with_reads(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug)]
pub struct BatcherOptions {
    /// The maximum number of jobs per transaction.
    pub batch_max: usize,
    /// The maximum number of queued jobs; further jobs are rejected at once.
    pub queue_max: usize,
    /// The number of concurrent batches.
    pub lanes: usize,
    /// Delays a batch to collect more jobs.
    pub gather: Option<Gather>,
}

impl Default for BatcherOptions {
    fn default() -> Self {
        Self { batch_max: 128, queue_max: 4_096, lanes: 1, gather: None }
    }
}

/// A batch starts when it has `enough` jobs, or when its first job has waited for `at_most`. For work whose cost matters
/// more than its latency.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    pub enough: usize,
    pub at_most: Duration,
}

/// Groups queued jobs into shared transactions: each lane runs one batch at a time, and the next batch takes the jobs
/// that queued meanwhile. Clones share the queue. The lanes end when the last clone is dropped and the queue is empty.
pub struct Batcher<J, R> {
    name: &'static str,
    queue: mpsc::Sender<Queued<J, R>>,
    hurry: Arc<Notify>,
}

/// A job and its caller.
struct Queued<J, R> {
    job: J,
    answer: oneshot::Sender<Result<R, StoreError>>,
    since: Instant,
}

/// The longest wait of [`Batcher::submit`]: in the queue, in a batch, and in a transaction of its own.
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
        let hurry = Arc::<Notify>::default();
        lane::start((name, database), options, apply, waiting, hurry.clone());
        Self { name, queue, hurry }
    }

    /// Ends the [`Gather`] delay of the current batch, or of the next one.
    pub fn hurry(&self) {
        self.hurry.notify_one();
    }

    /// Queues the job and returns its outcome. The job runs even if the caller goes away.
    ///
    /// # Errors
    /// Those of the job. [`StoreError::Busy`] when the queue is full, or after 5 s without a commit.
    /// [`StoreError::Unavailable`], within 15 s, when the database is unreachable or the time is up. It is then unknown
    /// whether the job took effect or will within seconds.
    pub async fn submit(&self, job: J) -> Result<R, StoreError> {
        let (answer, outcome) = oneshot::channel();
        let queued = Queued { job, answer, since: Instant::now() };
        if self.queue.try_send(queued).is_err() {
            counter!("write_batch_jobs_rejected_total", "batcher" => self.name).increment(1);
            return Err(StoreError::Busy(format!("too many {} writes are queued", self.name)));
        }
        match timeout(ANSWER_WAIT, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                Err(StoreError::Unavailable(format!("a {} write ended without an outcome", self.name)))
            }
            Err(_) => Err(StoreError::Unavailable(format!("a {} write timed out", self.name))),
        }
    }
}

impl<J, R> Clone for Batcher<J, R> {
    fn clone(&self) -> Self {
        Self { name: self.name, queue: self.queue.clone(), hurry: self.hurry.clone() }
    }
}
