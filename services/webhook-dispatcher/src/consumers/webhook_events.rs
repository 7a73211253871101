//! Accepts events that may become webhooks. A message is acknowledged after its deliveries are committed.

use events::Envelope;
use messaging::{Handler, Rejection};
use telemetry::TraceContext;

use crate::commands::{AcceptError, EventIntake};
use crate::domain::Incoming;

pub(crate) struct WebhookEvents(pub EventIntake);

impl Handler for WebhookEvents {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        answer(self.0.accept(incoming(envelope)).await)
    }

    async fn handle_again(&self, envelope: Envelope) -> Result<(), Rejection> {
        answer(self.0.accept_again(incoming(envelope)).await)
    }
}

fn incoming(envelope: Envelope) -> Incoming {
    Incoming { envelope, trace: TraceContext::current() }
}

fn answer(accepted: Result<(), AcceptError>) -> Result<(), Rejection> {
    accepted.map_err(|error| match error {
        AcceptError::Store(error) => outbox::rejection(&error),
        AcceptError::Rejected(reason) => Rejection::Never(reason.to_string()),
    })
}
