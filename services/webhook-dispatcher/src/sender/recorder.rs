//! Writes outcomes in batches, and retries until they are written.

use std::time::{Duration, Instant};

use diesel_async::AsyncPgConnection;
use outbox::Unit;
use postgres::{Apply, Batcher, BatcherOptions, Gather, StoreError};

use super::schedule::Schedule;
use crate::domain::Attempt;
use crate::store::{self, Inserted, Outcome, Recorded};

/// After this time an outcome is abandoned: its lease expires, and the webhook is sent again.
const ABANDON_AFTER: Duration = Duration::from_secs(120);
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Only the next event of the same order waits for an outcome, and it ends the delay. A transaction for many outcomes
/// costs little more than for one.
const GATHER: Gather = Gather { enough: 32, at_most: Duration::from_millis(100) };

/// Replaces an error text that could not be stored.
const NOT_STORED: &str = "it failed, and the attempt could not be stored";

/// Clones share one queue.
#[derive(Clone)]
pub(super) struct Recorder {
    batcher: Batcher<Outcome, Recorded>,
    unit: Unit,
    /// Notes what an outcome makes due.
    schedule: Schedule,
}

struct Write(Unit);

impl Apply for Write {
    type Job = Outcome;
    type Outcome = Recorded;

    async fn apply(
        &self,
        conn: &AsyncPgConnection,
        outcomes: &[Outcome],
    ) -> Result<Vec<Recorded>, StoreError> {
        let Self(unit) = self;
        let now = unit.clock.now();
        let (recorded, disabled) =
            store::record(conn, (outcomes, &Inserted::default()), &unit.clock, || unit.entropy.jitter())
                .await?;
        store::announce(conn, unit, disabled, now).await?;
        Ok(recorded)
    }
}

impl Recorder {
    pub(super) fn start(unit: &Unit, schedule: Schedule) -> Self {
        let options = BatcherOptions { gather: Some(GATHER), ..BatcherOptions::default() };
        let batcher = Batcher::start("webhook-outcomes", unit.database.clone(), options, Write(unit.clone()));
        Self { batcher, unit: unit.clone(), schedule }
    }

    /// Writes the next outcomes without delay: a delivery waits for one of them.
    pub(super) fn hurry(&self) {
        self.batcher.hurry();
    }

    /// Writes an outcome. Retries while the database is unreachable, because a lost outcome means a repeated webhook.
    /// Returns true if this process still held the lease.
    pub(super) async fn record(&self, mut outcome: Outcome) -> bool {
        let (began, mut pause) = (Instant::now(), PAUSE_MIN);
        let mut may_have_been_written = false;
        let mut detail = Detail::Full;
        loop {
            let recorded = self.write(&outcome, detail).await;
            if let Ok(recorded) = &recorded {
                self.schedule.note_recorded(&outcome, recorded);
            }
            match recorded {
                Ok(recorded) => {
                    recorded.report();
                    let is_ours = recorded.is_ours || may_have_been_written;
                    if !is_ours {
                        metrics::counter!("webhook_outcomes_fenced_total").increment(1);
                        tracing::warn!(delivery_id = %outcome.delivery, "outcome dropped: another process took over the delivery");
                    }
                    return is_ours;
                }
                Err(error) if error.is_unavailable() || detail == Detail::State => {
                    may_have_been_written |= !error.is_rolled_back();
                    if began.elapsed() > ABANDON_AFTER {
                        tracing::error!(delivery_id = %outcome.delivery, %error, "writing an outcome failed; the webhook will be sent again");
                        return false;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                // A response that cannot be stored must not block the outcome: the webhook would be repeated forever.
                Err(error) => {
                    tracing::error!(delivery_id = %outcome.delivery, ?detail, %error, "storing an outcome failed; retrying with less detail");
                    detail = detail.reduced();
                    outcome.attempt = outcome.attempt.map(|attempt| detail.of(attempt));
                }
            }
        }
    }

    async fn write(&self, outcome: &Outcome, detail: Detail) -> Result<Recorded, StoreError> {
        if detail != Detail::State {
            return self.batcher.submit(outcome.clone()).await;
        }
        self.unit.transaction(async |conn| store::record_state(conn, outcome).await).await
    }
}

/// How much of an outcome is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Full,
    WithoutResponse,
    /// Only the delivery's next state; the attempt is counted.
    State,
}

impl Detail {
    fn reduced(self) -> Self {
        match self {
            Self::Full => Self::WithoutResponse,
            Self::WithoutResponse | Self::State => Self::State,
        }
    }

    fn of(self, attempt: Attempt) -> Attempt {
        let error = match self {
            Self::State => attempt.error.as_ref().map(|_| NOT_STORED.to_owned()),
            Self::Full | Self::WithoutResponse => attempt.error.clone(),
        };
        Attempt { error, ..attempt.without_response() }
    }
}
