//! Businesses: their state, profile and subscription.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod queries;
pub(crate) mod routes;
