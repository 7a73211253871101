//! Accepts events that may become webhooks. A message is acknowledged after its deliveries are committed.

use events::Envelope;
use messaging::{Handler, Rejection};
use telemetry::TraceContext;

use crate::commands::{AcceptError, EventIntake};
use crate::domain::Incoming;

pub(crate) struct WebhookEvents(pub EventIntake);

impl Handler for WebhookEvents {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let trace = TraceContext::current();
        match self.0.accept(Incoming { envelope, trace }).await {
            Ok(()) => Ok(()),
            Err(AcceptError::Store(error)) if error.is_unavailable() => {
                Err(Rejection::Later(error.to_string()))
            }
            Err(error) => Err(Rejection::Never(error.to_string())),
        }
    }
}
