//! The operator approves, suspends, subscribes or opens a business.

use domain::BusinessId;
use postgres::StoreError;

use super::{announce, write_audit};
use crate::app::App;
use crate::domain::{Act, Action, Author, Business, BusinessStatus, Target, TargetKind};
use crate::store::businesses;

/// What is to change; what is absent stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) status: Option<BusinessStatus>,
    pub(crate) subscription_active: Option<bool>,
    pub(crate) live_access: Option<bool>,
    /// The plan that the operator means to make active, or none; absent when the operator does not say.
    pub(crate) plan: Option<Option<String>>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeBusinessError {
    #[error("no such business")]
    Unknown,
    /// The business has asked for another plan since the operator looked.
    #[error("another plan would become active")]
    PlanChanged { plan: Option<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ChangeBusinessError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Change {
    /// As it was asked for.
    fn act(&self, business: BusinessId) -> Act {
        let switch = |on: bool| if on { "active" } else { "inactive" };
        let asked = [
            ("status", self.status.map(<&str>::from)),
            ("subscription", self.subscription_active.map(switch)),
            ("liveAccess", self.live_access.map(switch)),
        ];
        let act = Act::new(Action::BusinessChanged).on(Target::new(TargetKind::Business, business));
        asked.into_iter().fold(act, |act, (name, value)| match value {
            Some(value) => act.with(name, value),
            None => act,
        })
    }

    fn of(&self, business: &Business) -> Business {
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

    fn check_plan(&self, after: &Business) -> Result<(), ChangeBusinessError> {
        match &self.plan {
            Some(meant) if *meant != after.subscription.plan => {
                Err(ChangeBusinessError::PlanChanged { plan: after.subscription.plan.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// What changes nothing is announced to nobody.
pub(crate) async fn change_business(
    app: &App,
    business: BusinessId,
    author: &Author,
    change: Change,
) -> Result<(), ChangeBusinessError> {
    let changed: Result<(), ChangeBusinessError> = app
        .database
        .transaction(async |conn| {
            let before = businesses::find_for_update(conn, business).await?;
            let before = before.ok_or(ChangeBusinessError::Unknown)?;
            let after = change.of(&before);
            change.check_plan(&after)?;
            if after != before {
                businesses::update(conn, &after, app.clock.now()).await?;
                announce(conn, app, business).await?;
                write_audit(conn, app, business, author, &change.act(business)).await?;
            }
            Ok(())
        })
        .await;
    changed?;
    app.notifier.notify();
    tracing::info!(business_id = %business, ?change, "the operator changed a business");
    Ok(())
}
