//! Accepts an event: marks it as seen, puts it in sequence among its order's events, and creates a delivery for every
//! subscribed endpoint. One transaction accepts all events that arrive at the same time.

mod batch;
mod eager;
mod planned;
mod turns;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{EventId, Mode, OrderId};
use postgres::{Batcher, BatcherOptions, Gather, StoreError};

use self::batch::{AcceptBatch, AcceptJob};
use self::eager::{Eager, Started};
use self::turns::{Turn, Turns};

pub(crate) use self::planned::WAYS;
use crate::domain::{HELD_BACK_MAX, Incoming};
use crate::sender::{Key, ReadyToSend};
use crate::state::State;
use crate::store::{Outcome, Recorded};

/// A transaction for many events costs little more than for one.
const GATHER: Gather = Gather { enough: 32, at_most: Duration::from_millis(100) };
/// After this time a sent event is abandoned: it is sent again.
const ABANDON_AFTER: Duration = Duration::from_secs(120);
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Why an event is rejected for good. The other events of its batch are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventRejected {
    #[error("more than {HELD_BACK_MAX} events of an order wait for a missing one")]
    TooManyHeldBack,
    #[error("the order belongs to another business")]
    ForeignOrder,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptError {
    #[error(transparent)]
    Rejected(#[from] EventRejected),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Accepts events of one mode in batches: live events do not wait for locks that test orders wait for.
pub(crate) struct EventIntake {
    state: Arc<State>,
    /// Stores events whose webhooks leave after the commit.
    immediate: Batcher<AcceptJob, Result<Accepted, EventRejected>>,
    /// Stores events whose webhooks were sent: only the next event of the same order waits for that, and it ends the delay.
    gathered: Batcher<AcceptJob, Result<Accepted, EventRejected>>,
    eager: Eager,
    turns: Turns,
}

/// The follow-up work of a whole batch, done after the commit by the caller of its first event.
#[derive(Default)]
struct Accepted {
    /// How its deliveries leave.
    ways: Vec<&'static str>,
    /// Leased to this process.
    ready: Vec<ReadyToSend>,
    /// The keys of other deliveries that are due.
    due: BTreeSet<(Key, Mode)>,
    /// Whether deliveries wait behind others of their orders.
    has_waiting: bool,
    /// Of the deliveries that were sent before.
    outcomes: Vec<Outcome>,
    recorded: Vec<Recorded>,
    anomalies: Vec<Anomaly>,
}

/// An event that did not arrive in sequence.
struct Anomaly {
    order: OrderId,
    sequence: i64,
    event: EventId,
    kind: AnomalyKind,
}

#[derive(Clone, Copy)]
enum AnomalyKind {
    Duplicate,
    HeldBack,
    Conflict,
}

impl Anomaly {
    fn report(&self) {
        let Self { order, sequence, event, kind } = self;
        match kind {
            AnomalyKind::Duplicate => {
                tracing::debug!(order_id = %order, sequence, event_id = %event, "event ignored: its sequence was released before");
            }
            AnomalyKind::HeldBack => {
                metrics::counter!("webhook_held_back_total").increment(1);
                tracing::info!(order_id = %order, sequence, event_id = %event, "event held back until its predecessors arrive");
            }
            AnomalyKind::Conflict => {
                tracing::error!(order_id = %order, sequence, event_id = %event, "event ignored: another event has its sequence");
            }
        }
    }
}

impl EventIntake {
    pub(crate) fn start(state: &Arc<State>, mode: Mode) -> Self {
        let [immediate, gathered] = match mode {
            Mode::Live => ["webhook-events", "webhook-events-sent"],
            Mode::Test => ["webhook-test-events", "webhook-test-events-sent"],
        };
        let start = |name, gather| {
            let options = BatcherOptions { gather, ..BatcherOptions::default() };
            Batcher::start(name, state.unit.database.clone(), options, AcceptBatch(state.clone()))
        };
        Self {
            state: state.clone(),
            immediate: start(immediate, None),
            gathered: start(gathered, Some(GATHER)),
            eager: Eager::new(state, mode),
            turns: Turns::default(),
        }
    }

    /// Accepts an event that was not accepted before. Its webhooks may be sent before it is stored.
    ///
    /// # Errors
    /// When the event cannot be accepted. Then nothing of it is stored, and it may be tried again with
    /// [`EventIntake::accept_again`].
    pub(crate) async fn accept(&self, incoming: Incoming) -> Result<(), AcceptError> {
        let Some(turn) = self.turn(&incoming).await else { return self.store(incoming).await };
        match self.eager.start(&incoming).await? {
            Some(started) => self.store_sent(incoming, started, turn).await,
            None => {
                drop(turn);
                self.store(incoming).await
            }
        }
    }

    /// Accepts an event that may have been accepted before.
    ///
    /// # Errors
    /// When the event cannot be accepted. Then nothing of it is stored, and it may be tried again.
    pub(crate) async fn accept_again(&self, incoming: Incoming) -> Result<(), AcceptError> {
        let _turn = self.turn(&incoming).await;
        self.store(incoming).await
    }

    /// Waits until the earlier events of the order that were sent are stored. None for events without an order.
    async fn turn(&self, incoming: &Incoming) -> Option<Turn> {
        let order = batch::order_of(incoming)?;
        Some(self.turns.take(order, || self.gathered.hurry()).await)
    }

    async fn store(&self, incoming: Incoming) -> Result<(), AcceptError> {
        let event = incoming.envelope.id;
        let accepted = self.immediate.submit(AcceptJob { incoming, sent: Vec::new() }).await?;
        self.follow_up(event, accepted).await
    }

    /// Stores an event whose webhooks are on their way, and their outcomes. Retries while the database is unreachable:
    /// otherwise they would be sent again.
    async fn store_sent(
        &self,
        incoming: Incoming,
        mut started: Started,
        turn: Turn,
    ) -> Result<(), AcceptError> {
        let event = incoming.envelope.id;
        let mut job = AcceptJob { incoming, sent: started.responses().await };
        let (began, mut pause) = (Instant::now(), PAUSE_MIN);
        let accepted = loop {
            let batcher = if job.is_finished() { &self.gathered } else { &self.immediate };
            let hurry = async {
                if turn.is_awaited() {
                    batcher.hurry();
                }
            };
            match tokio::join!(batcher.submit(job.clone()), hurry).0 {
                Ok(accepted) => break accepted,
                Err(error) if error.is_unavailable() && began.elapsed() < ABANDON_AFTER => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                // Perhaps an outcome cannot be stored. The recorder can store it with less detail.
                Err(error)
                    if !error.is_unavailable() && job.sent.iter().any(|sent| sent.outcome.is_some()) =>
                {
                    tracing::error!(event_id = %event, %error, "storing a sent event failed; retrying without outcomes");
                    job.sent.iter_mut().for_each(|sent| sent.outcome = None);
                }
                Err(error) => return Err(error.into()),
            }
        };
        drop(turn);
        let is_stored: HashSet<_> =
            job.sent.iter().filter(|sent| sent.outcome.is_some()).map(|sent| sent.delivery).collect();
        for send in started.sends {
            if !is_stored.contains(&send.lease.delivery) {
                self.state.sender.record_later(send).await;
            }
        }
        self.follow_up(event, accepted).await
    }

    /// What follows the commit of a batch.
    async fn follow_up(
        &self,
        event: EventId,
        accepted: Result<Accepted, EventRejected>,
    ) -> Result<(), AcceptError> {
        if let Err(EventRejected::TooManyHeldBack) = accepted {
            metrics::counter!("webhook_held_back_overflow_total").increment(1);
            tracing::error!(event_id = %event, "event rejected: too many events of its order are held back");
        }
        let Accepted { ways, ready, due, has_waiting, outcomes, recorded, anomalies } = accepted?;
        anomalies.iter().for_each(Anomaly::report);
        for way in ways {
            metrics::counter!("webhook_new_deliveries_total", "way" => way).increment(1);
        }
        recorded.iter().for_each(Recorded::report);
        if has_waiting {
            self.state.sender.hurry_outcomes();
        }
        self.state.sender.send_now(ready).await;
        for (key, mode) in due {
            self.state.sender.wake_for_new(key, mode);
        }
        for (outcome, recorded) in outcomes.iter().zip(&recorded) {
            self.state.sender.wake_for_recorded(outcome, recorded);
        }
        Ok(())
    }
}
