//! Whether a business may order for real, judged by portal-api, which owns the go-live facts.

use domain::{BusinessId, Clock};
use internal_api::CallError;
use internal_api::ordering::{OrderingClient, OrderingContext};

use super::VerdictCache;

pub struct OrderingVerdicts {
    client: OrderingClient,
    cache: VerdictCache<OrderingContext>,
}

impl OrderingVerdicts {
    pub fn new(client: OrderingClient, clock: Clock) -> Self {
        Self { client, cache: VerdictCache::new(clock) }
    }

    /// What a business may do and where its parcels are fetched. Kept only when nothing is missing.
    pub async fn context(&self, business: BusinessId) -> Result<OrderingContext, CallError> {
        let mut locked = None;
        let unlocked = self
            .cache
            .get(&business.to_string(), async || {
                let context = self.client.context(business).await?;
                if context.missing.is_empty() {
                    return Ok(Some(context));
                }
                locked = Some(context);
                Ok(None)
            })
            .await?;
        // Without a positive verdict the question was asked and answered with a locked one.
        unlocked
            .or(locked)
            .ok_or(CallError::Unavailable { service: "portal-api", reason: "no verdict".into() })
    }

    pub fn changed(&self, business: BusinessId) {
        let changed = business.to_string();
        self.cache.drop_where(|business, _| business == changed);
    }

    pub fn forget_all(&self) {
        self.cache.clear();
    }
}
