//! Writes outcomes, those of many attempts in shared transactions, until they are written.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel_async::AsyncPgConnection;
use domain::{Clock, Entropy};
use postgres::{Apply, Batcher, BatcherOptions, Database, Gather, StoreError};
use tokio::sync::Notify;

use crate::announcements::announce;
use crate::domain::Attempt;
use crate::store::{self, Outcome, Recorded};

/// An outcome that still cannot be written after this time is let go: its lease ends, and the webhook is sent again.
const GIVE_UP: Duration = Duration::from_secs(120);
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The receiver has the webhook; nobody but the next event of its order waits for the outcome. A transaction for a few
/// outcomes costs little more than one for each.
const GATHER: Gather = Gather { enough: 16, at_most: Duration::from_millis(20) };

/// Clones share one queue.
#[derive(Clone)]
pub(crate) struct Recorder {
    batcher: Batcher<Outcome, Recorded>,
    /// Rung when an end makes another due.
    bell: Arc<Notify>,
}

struct Write {
    clock: Clock,
    entropy: Entropy,
}

impl Apply<Outcome, Recorded> for Write {
    async fn apply(
        &self,
        conn: &mut AsyncPgConnection,
        outcomes: &[Outcome],
    ) -> Result<Vec<Recorded>, StoreError> {
        let now = self.clock.now();
        let (recorded, disabled) = store::record(conn, outcomes, now, || self.entropy.jitter()).await?;
        announce(conn, (&self.clock, &self.entropy), disabled, now).await?;
        Ok(recorded)
    }
}

impl Recorder {
    pub(crate) fn start(database: Database, clock: Clock, entropy: Entropy, bell: Arc<Notify>) -> Self {
        let write = Write { clock, entropy };
        let options = BatcherOptions { gather: Some(GATHER), ..BatcherOptions::default() };
        let batcher = Batcher::start("webhook-outcomes", database, options, write);
        Self { batcher, bell }
    }

    /// Writes an outcome; while the database is away it keeps trying, since a lost outcome is a webhook sent twice.
    /// True when it was written by us.
    pub(crate) async fn record(&self, mut outcome: Outcome) -> bool {
        let (began, mut pause) = (Instant::now(), PAUSE_MIN);
        let mut may_have_been_written = false;
        let mut reduced = false;
        loop {
            let recorded = self.batcher.submit(outcome.clone()).await;
            if recorded.as_ref().is_ok_and(|recorded| recorded.freed) {
                self.bell.notify_one();
            }
            match recorded {
                Ok(Recorded { ours: true, .. }) => return true,
                Ok(_) if may_have_been_written => return true,
                Ok(_) => {
                    metrics::counter!("webhook_outcomes_fenced_total").increment(1);
                    tracing::warn!(delivery_id = %outcome.delivery, "another sender took this delivery over");
                    return false;
                }
                Err(error) if error.is_unavailable() => {
                    may_have_been_written = true;
                    if began.elapsed() > GIVE_UP {
                        tracing::error!(delivery_id = %outcome.delivery, %error, "an outcome could not be written");
                        return false;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                // Whatever a receiver answers must not keep its outcome from being written: that would send the
                // webhook again for ever.
                Err(error) if !reduced => {
                    tracing::error!(delivery_id = %outcome.delivery, %error, "an answer could not be stored");
                    outcome.attempt = outcome.attempt.map(without_answer);
                    reduced = true;
                }
                Err(error) => {
                    tracing::error!(delivery_id = %outcome.delivery, %error, "an outcome could not be written");
                    return false;
                }
            }
        }
    }
}

fn without_answer(attempt: Attempt) -> Attempt {
    Attempt { response_headers: "{}".to_owned(), response_body: None, ..attempt }
}
