//! Writes outcomes, those of many attempts in shared transactions, until they are written.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel_async::AsyncPgConnection;
use domain::{Clock, Entropy};
use postgres::{Apply, Batcher, BatcherOptions, Database, Gather, StoreError};
use tokio::sync::Notify;

use crate::announcements::announce;
use crate::domain::Attempt;
use crate::store::{self, EndpointNews, Outcome, Recorded};

/// An outcome that still cannot be written after this time is let go: its lease ends, and the webhook is sent again.
const GIVE_UP: Duration = Duration::from_secs(120);
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The receiver has the webhook; nobody but the next event of its order waits for the outcome. A transaction for a few
/// outcomes costs little more than one for each.
const GATHER: Gather = Gather { enough: 16, at_most: Duration::from_millis(20) };

/// Stands for an error whose text may be what cannot be stored.
const NOT_STORED: &str = "it failed, and the attempt could not be stored";

/// Clones share one queue.
#[derive(Clone)]
pub(crate) struct Recorder {
    batcher: Batcher<Outcome, Recorded>,
    database: Database,
    clock: Clock,
    /// Rung when an end makes another due.
    bell: Arc<Notify>,
}

struct Write {
    clock: Clock,
    entropy: Entropy,
}

impl Apply for Write {
    type Job = Outcome;
    type Outcome = Recorded;

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
        let write = Write { clock: clock.clone(), entropy };
        let options = BatcherOptions { gather: Some(GATHER), ..BatcherOptions::default() };
        let batcher = Batcher::start("webhook-outcomes", database.clone(), options, write);
        Self { batcher, database, clock, bell }
    }

    /// Writes an outcome; while the database is away it keeps trying, since a lost outcome is a webhook sent twice.
    /// True when it was written by us.
    pub(crate) async fn record(&self, mut outcome: Outcome) -> bool {
        let (began, mut pause) = (Instant::now(), PAUSE_MIN);
        let mut may_have_been_written = false;
        let mut form = Form::Whole;
        loop {
            let recorded = self.write(&outcome, form).await;
            if recorded.as_ref().is_ok_and(|recorded| recorded.freed) {
                self.bell.notify_one();
            }
            match recorded {
                Ok(Recorded { ours, news, .. }) => {
                    news.iter().for_each(EndpointNews::tell);
                    let is_ours = ours || may_have_been_written;
                    if !is_ours {
                        metrics::counter!("webhook_outcomes_fenced_total").increment(1);
                        tracing::warn!(delivery_id = %outcome.delivery, "another sender took this delivery over");
                    }
                    return is_ours;
                }
                Err(error) if error.is_unavailable() || form == Form::State => {
                    may_have_been_written |= error.is_unavailable();
                    if began.elapsed() > GIVE_UP {
                        tracing::error!(delivery_id = %outcome.delivery, %error, "an outcome could not be written");
                        return false;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                // Whatever a receiver answers, and whatever is wrong with our tables, must not keep an outcome from being
                // written: that would send the webhook again for ever.
                Err(error) => {
                    tracing::error!(delivery_id = %outcome.delivery, ?form, %error, "an outcome could not be stored in full");
                    form = form.less();
                    outcome.attempt = outcome.attempt.map(|attempt| form.of(attempt));
                }
            }
        }
    }

    async fn write(&self, outcome: &Outcome, form: Form) -> Result<Recorded, StoreError> {
        if form != Form::State {
            return self.batcher.submit(outcome.clone()).await;
        }
        let now = self.clock.now();
        self.database.transaction(async |conn| store::record_state(conn, outcome, now).await).await
    }
}

/// How much of an outcome is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    WithoutAnswer,
    /// The delivery's next state alone; its attempt counts.
    State,
}

impl Form {
    fn less(self) -> Self {
        match self {
            Self::Whole => Self::WithoutAnswer,
            Self::WithoutAnswer | Self::State => Self::State,
        }
    }

    fn of(self, attempt: Attempt) -> Attempt {
        let error = match self {
            Self::State => attempt.error.as_ref().map(|_| NOT_STORED.to_owned()),
            Self::Whole | Self::WithoutAnswer => attempt.error.clone(),
        };
        Attempt { error, ..attempt.without_answer() }
    }
}
