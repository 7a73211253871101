//! A key was revoked, or something that decides whether a business may order has changed: what is kept of it is dropped
//! at once. Each instance hears of it on a queue of its own; what was missed while the broker was away is made good by
//! dropping everything.

use std::sync::Arc;

use events::{Body, Envelope, binding};
use messaging::{Handler, Queue, Rejection};

use crate::app::App;

pub struct VerdictNews(pub Arc<App>);

impl VerdictNews {
    pub fn queue() -> Queue {
        Queue::per_instance("order-api.verdicts", &[binding::API_KEY_REVOKED, binding::BUSINESS_CHANGED])
    }
}

impl Handler for VerdictNews {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        match envelope.body {
            Body::ApiKeyRevoked(revoked) => self.0.keys.revoked(revoked.key_id),
            Body::BusinessChanged {} => self.0.ordering.changed(envelope.business_id),
            _ => {}
        }
        Ok(())
    }

    async fn connected(&self) {
        self.0.keys.forget_all();
        self.0.ordering.forget_all();
    }
}
