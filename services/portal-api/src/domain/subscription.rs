//! A business's subscription: the business asks for a plan, the operator makes it active (SPECIFICATION §12).

use strum::{Display, EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum SubscriptionState {
    /// None was ever asked for, or what was asked for was declined.
    Required,
    Requested,
    Active,
    /// It was active once.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) state: SubscriptionState,
    /// The plan that is, or last was, active.
    pub(crate) plan: Option<String>,
    /// The plan that was asked for and is not active yet.
    pub(crate) requested_plan: Option<String>,
}

impl Subscription {
    /// A new business's.
    pub(crate) fn none() -> Self {
        Self { state: SubscriptionState::Required, plan: None, requested_plan: None }
    }

    /// The business asks for a plan. Asking for another one while one is active takes nothing away meanwhile.
    #[must_use]
    pub(crate) fn request(&self, plan: &str) -> Self {
        if self.state == SubscriptionState::Active {
            let requested_plan = (self.plan.as_deref() != Some(plan)).then(|| plan.to_owned());
            return Self { requested_plan, ..self.clone() };
        }
        let requested_plan = Some(plan.to_owned());
        Self { state: SubscriptionState::Requested, requested_plan, ..self.clone() }
    }

    /// The operator makes it active: what was asked for, else what was active before.
    #[must_use]
    pub(crate) fn activate(&self) -> Self {
        let plan = self.requested_plan.clone().or_else(|| self.plan.clone());
        Self { state: SubscriptionState::Active, plan, requested_plan: None }
    }

    /// The operator ends it, or declines what was asked for.
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
    fn from_nothing_to_active_and_to_its_end() {
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
    fn a_change_of_plan_keeps_the_active_one_until_it_is_made() {
        use SubscriptionState::Active;
        let active = subscription(Active, Some("starter"), None);
        let changing = active.request("scale");
        assert_eq!(changing, subscription(Active, Some("starter"), Some("scale")));
        assert_eq!(changing.request("starter"), active);
        assert_eq!(changing.activate(), subscription(Active, Some("scale"), None));
    }

    #[test]
    fn a_declined_request_leaves_what_was_before() {
        assert_eq!(Subscription::none().request("growth").deactivate(), Subscription::none());
        assert_eq!(Subscription::none().deactivate(), Subscription::none());
    }
}
