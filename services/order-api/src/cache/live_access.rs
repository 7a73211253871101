//! Whether a business may place live orders, as portal-api decides from the go-live facts.

use std::sync::Arc;

use domain::{BusinessId, Clock};
use internal_api::CallError;
use internal_api::ordering::{OrderingClient, OrderingContext};

use super::peer_cache::PeerCache;

pub struct LiveAccessCache {
    client: OrderingClient,
    cache: Arc<PeerCache<OrderingContext>>,
}

impl LiveAccessCache {
    pub fn new(client: OrderingClient, clock: Clock) -> Self {
        Self { client, cache: PeerCache::new(clock, |context| context.missing.is_empty()) }
    }

    /// The missing go-live items and the pickup profile of a business. Cached only when no item is missing.
    pub async fn context(&self, business: BusinessId) -> Result<OrderingContext, CallError> {
        let fetch = || {
            let client = self.client.clone();
            async move { client.context(business).await }
        };
        self.cache.get(&business.to_string(), fetch).await
    }

    /// Drops a business whose go-live facts or pickup profile changed.
    pub fn invalidate(&self, business: BusinessId) {
        let changed = business.to_string();
        self.cache.invalidate(|business, _| business == changed);
    }

    pub fn clear(&self) {
        self.cache.clear();
    }
}
