//! The home pages of a business and of the operator: what happens today, and what needs attention.

pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
