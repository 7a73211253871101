//! Use cases that write.

pub(crate) mod approval_limit;
pub(crate) mod decide_approval;
pub(crate) mod fetch_reset_link;
pub(crate) mod move_money;
pub(crate) mod open_approvals;
pub(crate) mod request_approval;
