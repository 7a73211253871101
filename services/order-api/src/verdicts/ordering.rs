//! Whether a business may order for real, judged by portal-api, which owns the go-live facts.

use std::sync::Arc;

use domain::{BusinessId, Clock};
use internal_api::CallError;
use internal_api::ordering::{OrderingClient, OrderingContext};

use super::VerdictCache;

pub struct OrderingVerdicts {
    client: OrderingClient,
    cache: Arc<VerdictCache<OrderingContext>>,
}

impl OrderingVerdicts {
    pub fn new(client: OrderingClient, clock: Clock) -> Self {
        Self { client, cache: VerdictCache::new(clock, |context| context.missing.is_empty()) }
    }

    /// What a business may do and where its parcels are fetched. Kept only when nothing is missing.
    pub async fn context(&self, business: BusinessId) -> Result<OrderingContext, CallError> {
        let ask = || {
            let client = self.client.clone();
            async move { client.context(business).await }
        };
        self.cache.get(&business.to_string(), ask).await
    }

    pub fn changed(&self, business: BusinessId) {
        let changed = business.to_string();
        self.cache.drop_where(|business, _| business == changed);
    }

    pub fn forget_all(&self) {
        self.cache.clear();
    }
}
