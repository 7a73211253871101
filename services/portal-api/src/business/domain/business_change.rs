//! A change of a business by the operator.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::business::domain::{Business, BusinessStatus};

/// Absent fields stay unchanged. Stored while it waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BusinessChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<BusinessStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subscription_active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) live_access: Option<bool>,
    /// The plan that the operator expects to become active (`null`: no plan); absent when not stated.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "stated")]
    #[schema(value_type = Option<String>)]
    pub(crate) plan: Option<Option<String>>,
    /// Of a suspension: why. The owners read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Keeps `null` apart from an absent field.
fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl BusinessChange {
    /// The requested change, for the audit log. An approval and the end of a suspension both make a business active.
    pub(crate) fn audit_event(&self, before: &Business) -> AuditEvent {
        let switch = |on: bool| if on { "active" } else { "inactive" };
        let details = [
            ("status", self.status.map(<&str>::from)),
            ("subscription", self.subscription_active.map(switch)),
            ("liveAccess", self.live_access.map(switch)),
        ];
        let target = Target::new(TargetKind::Business, before.id);
        let mut event = AuditEvent::new(Action::BusinessChanged).on(target);
        if self.lifts_suspension_of(before) {
            event = event.with("lifted", true);
        }
        if let Some(reason) = &self.reason {
            event = event.with("reason", reason.as_str());
        }
        details.into_iter().fold(event, |event, (name, value)| match value {
            Some(value) => event.with(name, value),
            None => event,
        })
    }

    pub(crate) fn apply_to(&self, business: &Business) -> Business {
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

    /// Any other status counts: otherwise two changes would lift the suspension without an approval.
    pub(crate) fn lifts_suspension_of(&self, business: &Business) -> bool {
        let is_suspended = business.status == BusinessStatus::Suspended;
        is_suspended && self.apply_to(business).status != BusinessStatus::Suspended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_change_reads_back_as_it_was() {
        let nothing = BusinessChange {
            status: None,
            subscription_active: None,
            live_access: None,
            plan: None,
            reason: None,
        };
        let lift = BusinessChange { status: Some(BusinessStatus::Active), ..nothing.clone() };
        for change in [
            lift.clone(),
            BusinessChange { subscription_active: Some(true), plan: Some(None), ..lift.clone() },
            BusinessChange { live_access: Some(false), plan: Some(Some("starter".to_owned())), ..lift },
            nothing,
        ] {
            let stored = serde_json::to_value(&change).unwrap();
            assert_eq!(serde_json::from_value::<BusinessChange>(stored.clone()).unwrap(), change, "{stored}");
        }
    }
}
