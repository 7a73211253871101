//! The subscription of a business: the business requests a plan, the operator activates it (SPECIFICATION §12.4).

use strum::{Display, EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum SubscriptionState {
    /// None was ever active, and none is requested.
    Required,
    Requested,
    Active,
    /// It was active before.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) state: SubscriptionState,
    /// The active plan, or the last one that was active.
    pub(crate) plan: Option<String>,
    /// The requested plan that is not active yet.
    pub(crate) requested_plan: Option<String>,
}

impl Subscription {
    /// The subscription of a new business.
    pub(crate) fn none() -> Self {
        Self { state: SubscriptionState::Required, plan: None, requested_plan: None }
    }

    /// The business requests a plan. An active plan stays active until the operator activates the requested one.
    #[must_use]
    pub(crate) fn request(&self, plan: &str) -> Self {
        if self.state == SubscriptionState::Active {
            let requested_plan = (self.plan.as_deref() != Some(plan)).then(|| plan.to_owned());
            return Self { requested_plan, ..self.clone() };
        }
        let requested_plan = Some(plan.to_owned());
        Self { state: SubscriptionState::Requested, requested_plan, ..self.clone() }
    }

    /// The operator activates the requested plan, or the previous one if none is requested.
    #[must_use]
    pub(crate) fn activate(&self) -> Self {
        let plan = self.requested_plan.clone().or_else(|| self.plan.clone());
        Self { state: SubscriptionState::Active, plan, requested_plan: None }
    }

    /// The operator ends the subscription, or declines the request.
    #[must_use]
    pub(crate) fn deactivate(&self) -> Self {
        let state = match self.state {
            SubscriptionState::Active | SubscriptionState::Expired => SubscriptionState::Expired,
            SubscriptionState::Requested if self.plan.is_some() => SubscriptionState::Expired,
            SubscriptionState::Requested | SubscriptionState::Required => SubscriptionState::Required,
        };
        Self { state, plan: self.plan.clone(), requested_plan: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(state: SubscriptionState, plan: Option<&str>, requested: Option<&str>) -> Subscription {
        Subscription { state, plan: plan.map(str::to_owned), requested_plan: requested.map(str::to_owned) }
    }

    #[test]
    fn a_plan_is_requested_activated_and_ended() {
        use SubscriptionState::{Active, Expired, Requested};
        let requested = Subscription::none().request("growth");
        assert_eq!(requested, subscription(Requested, None, Some("growth")));
        let active = requested.activate();
        assert_eq!(active, subscription(Active, Some("growth"), None));
        let expired = active.deactivate();
        assert_eq!(expired, subscription(Expired, Some("growth"), None));
        assert_eq!(expired.request("scale"), subscription(Requested, Some("growth"), Some("scale")));
        assert_eq!(expired.request("scale").deactivate(), expired);
        assert_eq!(expired.activate(), active);
    }

    #[test]
    fn the_active_plan_stays_until_another_one_is_activated() {
        use SubscriptionState::Active;
        let active = subscription(Active, Some("starter"), None);
        let changing = active.request("scale");
        assert_eq!(changing, subscription(Active, Some("starter"), Some("scale")));
        assert_eq!(changing.request("starter"), active);
        assert_eq!(changing.activate(), subscription(Active, Some("scale"), None));
    }

    #[test]
    fn a_declined_request_restores_the_previous_state() {
        assert_eq!(Subscription::none().request("growth").deactivate(), Subscription::none());
        assert_eq!(Subscription::none().deactivate(), Subscription::none());
    }
}
