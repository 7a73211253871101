//! The operator changes the status, the subscription or the live access of a business.

use domain::BusinessId;
use postgres::StoreError;

use super::announce::announce_business_change;
use super::audit::write_audit;
use crate::domain::{Action, AuditEvent, Author, Business, BusinessStatus, Target, TargetKind};
use crate::state::State;
use crate::store::businesses;

/// Absent fields stay unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BusinessChange {
    pub(crate) status: Option<BusinessStatus>,
    pub(crate) subscription_active: Option<bool>,
    pub(crate) live_access: Option<bool>,
    /// The plan that the operator expects to become active (`Some(None)`: no plan); absent when not stated.
    pub(crate) plan: Option<Option<String>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeBusinessError {
    #[error("the business is unknown")]
    Unknown,
    /// The business has requested another plan in the meantime.
    #[error("another plan would become active")]
    PlanChanged { plan: Option<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BusinessChange {
    /// The requested change, for the audit log.
    fn audit_event(&self, business: BusinessId) -> AuditEvent {
        let switch = |on: bool| if on { "active" } else { "inactive" };
        let details = [
            ("status", self.status.map(<&str>::from)),
            ("subscription", self.subscription_active.map(switch)),
            ("liveAccess", self.live_access.map(switch)),
        ];
        let target = Target::new(TargetKind::Business, business);
        let event = AuditEvent::new(Action::BusinessChanged).on(target);
        details.into_iter().fold(event, |event, (name, value)| match value {
            Some(value) => event.with(name, value),
            None => event,
        })
    }

    fn apply_to(&self, business: &Business) -> Business {
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
            Some(expected) if *expected != after.subscription.plan => {
                Err(ChangeBusinessError::PlanChanged { plan: after.subscription.plan.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Announces the change unless it has no effect.
pub(crate) async fn change_business(
    state: &State,
    business: BusinessId,
    author: &Author,
    change: BusinessChange,
) -> Result<(), ChangeBusinessError> {
    let changed: Result<(), ChangeBusinessError> = state
        .unit
        .transaction(async |conn| {
            let before = businesses::find_for_update(conn, business).await?;
            let before = before.ok_or(ChangeBusinessError::Unknown)?;
            let after = change.apply_to(&before);
            change.check_plan(&after)?;
            if after != before {
                businesses::update(conn, &after, state.unit.clock.now()).await?;
                announce_business_change(conn, state, business).await?;
                write_audit(conn, state, business, author, &change.audit_event(business)).await?;
            }
            Ok(())
        })
        .await;
    changed?;
    tracing::info!(business_id = %business, ?change, "business changed by the operator");
    Ok(())
}
