//! Everything that may become a webhook. A message is acknowledged once its deliveries are committed.

use events::Envelope;
use messaging::{Handler, Rejection};
use telemetry::TraceContext;

use crate::app::App;
use crate::commands::{self, AcceptError};
use crate::domain::Incoming;

pub(crate) struct WebhookEvents(pub App);

impl Handler for WebhookEvents {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let trace = TraceContext::current();
        match commands::accept(&self.0, Incoming { envelope, trace }).await {
            Ok(()) => Ok(()),
            Err(AcceptError::Store(error)) if error.is_unavailable() => {
                Err(Rejection::Later(error.to_string()))
            }
            Err(error) => Err(Rejection::Never(error.to_string())),
        }
    }
}
