//! HTTP.

pub(crate) mod after_failure;
pub(crate) mod api_keys;
pub(crate) mod cash;
pub(crate) mod events;
pub(crate) mod operator_orders;
pub(crate) mod operator_wallet;
pub(crate) mod order_cancel;
pub(crate) mod order_request;
pub(crate) mod order_stream;
pub(crate) mod orders;
pub(crate) mod packages;
pub(crate) mod payments;
pub(crate) mod personal_data;
pub(crate) mod remittances;
pub(crate) mod statement;
mod statement_file;
pub(crate) mod wallet;
pub(crate) mod webhook_deliveries;
pub(crate) mod webhook_endpoints;
pub(crate) mod webhook_tools;
