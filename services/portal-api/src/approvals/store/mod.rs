//! Tables of this feature only.

pub(crate) mod approval_limit;
pub(crate) mod approvals;
