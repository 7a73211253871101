//! Accepts an event: marks it as seen, puts it in sequence among its order's events, and creates a delivery for every
//! subscribed endpoint. One transaction accepts all events that arrive at the same time.

mod batch;

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{BusinessId, EndpointId, EventId, Mode, OrderId};
use postgres::{Batcher, BatcherOptions, StoreError};

use crate::domain::{HELD_BACK_MAX, Incoming};
use crate::sender::ReadyToSend;
use crate::state::State;

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

/// Accepts events in batches.
pub(crate) struct EventIntake {
    state: Arc<State>,
    batcher: Batcher<Incoming, Result<Accepted, EventRejected>>,
}

/// The follow-up work of a whole batch, done after the commit by the caller of its first event.
#[derive(Default)]
struct Accepted {
    /// Leased to this process.
    ready: Vec<ReadyToSend>,
    /// The keys of other deliveries that are due.
    due: BTreeSet<(EndpointId, BusinessId, Mode)>,
    /// Whether deliveries wait behind others of their orders.
    has_waiting: bool,
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
    pub(crate) fn start(state: &Arc<State>) -> Self {
        let batch = batch::AcceptBatch(state.clone());
        let database = state.unit.database.clone();
        let batcher = Batcher::start("webhook-events", database, BatcherOptions::default(), batch);
        Self { state: state.clone(), batcher }
    }

    /// # Errors
    /// When the event cannot be accepted. Then nothing of it is stored, and it may be tried again.
    pub(crate) async fn accept(&self, incoming: Incoming) -> Result<(), AcceptError> {
        let event = incoming.envelope.id;
        let accepted = self.batcher.submit(incoming).await?;
        if let Err(EventRejected::TooManyHeldBack) = accepted {
            metrics::counter!("webhook_held_back_overflow_total").increment(1);
            tracing::error!(event_id = %event, "event rejected: too many events of its order are held back");
        }
        let Accepted { ready, due, has_waiting, anomalies } = accepted?;
        anomalies.iter().for_each(Anomaly::report);
        if has_waiting {
            self.state.sender.hurry_outcomes();
        }
        self.state.sender.send_now(ready).await;
        self.state.sender.wake_for(&due);
        Ok(())
    }
}
