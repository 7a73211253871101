//! HTTP.

pub(crate) mod approval_view;
pub(crate) mod approvals;
