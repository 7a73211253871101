//! Who must have a second factor, and which calls need a recent authentication.

use chrono::TimeDelta;

use crate::domain::{OperatorRole, Role};

pub(crate) struct FactorPolicy {
    pub(crate) required_for_users: Vec<Role>,
    pub(crate) required_for_staff: Vec<OperatorRole>,
    /// How long after an authentication sensitive calls are allowed. `None` is no limit.
    pub(crate) recent_within: Option<TimeDelta>,
}

impl FactorPolicy {
    pub(crate) fn requires_user(&self, role: Role) -> bool {
        self.required_for_users.contains(&role)
    }

    pub(crate) fn requires_staff(&self, role: OperatorRole) -> bool {
        self.required_for_staff.contains(&role)
    }
}
