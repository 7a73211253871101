//! Errors of the shop itself. Errors of the delivery service are a [`crate::SyncOutcome`].

use crate::LocalOrderId;

/// Why the shop could not do the work.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    #[error("the shop's settings are invalid:\n{0}")]
    Settings(settings::SettingErrors),
    #[error("the order id must be 1 to 128 visible ASCII characters")]
    InvalidOrderId,
    #[error("order {0} is already confirmed")]
    OrderExists(LocalOrderId),
    #[error("there is no order {0}")]
    UnknownOrder(LocalOrderId),
    #[error("the order cannot be written as JSON: {0}")]
    Unwritable(#[from] serde_json::Error),
    #[error("the client of the delivery service is not set up: {0}")]
    Client(#[from] waybill_client::Error),
    #[error("the webhook receiver cannot listen: {0}")]
    Listen(#[from] std::io::Error),
    #[error("a task of the shop failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("the shop's database could not be migrated: {0:#}")]
    Migration(anyhow::Error),
    #[error("the shop's database is unavailable: {0}")]
    Database(#[from] postgres::StoreError),
    #[error("the shop's database refused a statement: {0}")]
    Query(#[from] diesel::result::Error),
    #[error("the shop's database contains the unknown value {0:?}; upgrade the shop")]
    UnknownText(String),
}
