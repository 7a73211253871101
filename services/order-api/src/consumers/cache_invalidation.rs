//! Drops cached answers when a key is revoked or a business changes. Each instance has a queue of its own. After a
//! reconnect it drops everything, because it may have missed events.

use std::sync::Arc;

use events::{Body, Envelope, binding};
use messaging::{Handler, Queue, Rejection};

use crate::state::State;

pub struct CacheInvalidation(pub Arc<State>);

impl CacheInvalidation {
    pub fn queue() -> Queue {
        Queue::per_instance("order-api.verdicts", &[binding::API_KEY_REVOKED, binding::BUSINESS_CHANGED])
    }
}

impl Handler for CacheInvalidation {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        match envelope.body {
            Body::ApiKeyRevoked(revoked) => self.0.keys.invalidate(revoked.key_id),
            Body::BusinessChanged {} => self.0.live_access.invalidate(envelope.business_id),
            _ => {}
        }
        Ok(())
    }

    async fn connected(&self) {
        self.0.keys.clear();
        self.0.live_access.clear();
    }
}
