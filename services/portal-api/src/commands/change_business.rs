//! The operator approves, suspends, subscribes or opens a business.

use domain::BusinessId;
use postgres::StoreError;

use super::announce;
use crate::app::App;
use crate::domain::{Business, BusinessStatus};
use crate::store::businesses;

/// What is to change; what is absent stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) status: Option<BusinessStatus>,
    pub(crate) subscription_active: Option<bool>,
    pub(crate) live_access: Option<bool>,
}

impl Change {
    fn of(self, business: &Business) -> Business {
        let subscription = match self.subscription_active {
            None => business.subscription.clone(),
            Some(true) => business.subscription.activate(),
            Some(false) => business.subscription.deactivate(),
        };
        Business {
            status: self.status.unwrap_or(business.status),
            live_access: self.live_access.unwrap_or(business.live_access),
            subscription,
            ..business.clone()
        }
    }
}

/// False for an unknown business. What changes nothing is announced to nobody.
pub(crate) async fn change_business(
    app: &App,
    business: BusinessId,
    change: Change,
) -> Result<bool, StoreError> {
    let outcome: Result<bool, StoreError> = app
        .database
        .transaction(async |conn| {
            let Some(before) = businesses::find_for_update(conn, business).await? else { return Ok(false) };
            let after = change.of(&before);
            if after != before {
                businesses::update(conn, &after, app.clock.now()).await?;
                announce(conn, app, business).await?;
            }
            Ok(true)
        })
        .await;
    let known = outcome?;
    app.doorbell.ring();
    tracing::info!(business_id = %business, ?change, known, "the operator changed a business");
    Ok(known)
}
