//! An event arrives: it is remembered as seen, put in its place among the events of its order, and handed to every
//! endpoint that subscribed to it; together with whatever arrives at the same time, in one transaction.

mod batch;

use std::collections::BTreeSet;

use domain::{BusinessId, Clock, EndpointId, Entropy, Mode};
use postgres::{Batcher, BatcherOptions, Database, StoreError};

use crate::app::App;
use crate::domain::{Incoming, PARKED_MAX};
use crate::sender::{Express, Taken};

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
    let Handed { taken, due } = app.intake.0.submit(incoming).await??;
    app.express.send(taken);
    // One that is full rings when it has a place again, and what is committed by then is seen.
    if due.iter().any(|(endpoint, business, mode)| !app.in_hand.is_full(*endpoint, *business, *mode)) {
        app.bell.notify_one();
    }
    Ok(())
}
