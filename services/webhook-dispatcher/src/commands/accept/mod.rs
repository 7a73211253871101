//! An event arrives: it is remembered as seen, put in its place among the events of its order, and handed to every
//! endpoint that subscribed to it; together with whatever arrives at the same time, in one transaction.

mod batch;

use std::collections::BTreeSet;

use domain::{BusinessId, Clock, EndpointId, Entropy, EventId, Mode, OrderId};
use postgres::{Batcher, BatcherOptions, Database, StoreError};

use crate::app::App;
use crate::domain::{Incoming, PARKED_MAX};
use crate::sender::{Express, Taken, give_back};

/// Why an event is refused for good, while the others of its batch are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("more than {PARKED_MAX} events of an order wait for one that is missing")]
    TooManyParked,
    #[error("the order belongs to another business")]
    ForeignOrder,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Takes events in, those that wait at the same time in one transaction. Clones share the queue.
#[derive(Clone)]
pub(crate) struct Intake(Batcher<Incoming, Result<Handed, Refused>>);

/// What the senders are given, or told: one of a batch does so for all.
#[derive(Default)]
struct Handed {
    /// To be sent at once.
    taken: Vec<Taken>,
    /// Others are due for these.
    due: BTreeSet<(EndpointId, BusinessId, Mode)>,
    /// To be told after the commit.
    notes: Vec<Note>,
}

/// An event that did not simply pass.
struct Note {
    order: OrderId,
    sequence: i64,
    event: EventId,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Old,
    Parked,
    Contested,
}

impl Note {
    fn tell(&self) {
        let Self { order, sequence, event, what } = self;
        match what {
            What::Old => {
                tracing::info!(order_id = %order, sequence, event_id = %event, "an event came after it was handed on");
            }
            What::Parked => {
                metrics::counter!("webhook_held_back_total").increment(1);
                tracing::info!(order_id = %order, sequence, event_id = %event, "an event waits for its predecessors");
            }
            What::Contested => {
                tracing::error!(order_id = %order, sequence, event_id = %event, "two events claim one place");
            }
        }
    }
}

impl Intake {
    pub(crate) fn start(database: Database, clock: Clock, entropy: Entropy, express: Express) -> Self {
        let batch = batch::AcceptBatch { clock, entropy, express };
        Self(Batcher::start("webhook-events", database, BatcherOptions::default(), batch))
    }
}

/// # Errors
/// When the event cannot be taken in; nothing of it is kept then, and it may be tried again.
pub(crate) async fn accept(app: &App, incoming: Incoming) -> Result<(), AcceptError> {
    let event = incoming.envelope.id;
    let accepted = app.intake.0.submit(incoming).await?;
    if let Err(Refused::TooManyParked) = accepted {
        metrics::counter!("webhook_held_back_overflow_total").increment(1);
        tracing::error!(event_id = %event, "too many events wait for a missing one of their order");
    }
    let Handed { taken, due, notes } = accepted?;
    notes.iter().for_each(Note::tell);
    let unsent = app.express.send(taken);
    give_back(app, &unsent).await;
    // One that is full rings when it has a place again, and what is committed by then is seen.
    if due.iter().any(|(endpoint, business, mode)| !app.in_hand.is_full(*endpoint, *business, *mode)) {
        app.bell.notify_one();
    }
    Ok(())
}
