//! Keys, orders, webhooks, wallet and cash: calls that other services answer.

pub(crate) mod commands;
pub(crate) mod domain;
pub(crate) mod routes;
