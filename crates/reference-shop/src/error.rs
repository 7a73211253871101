//! What can go wrong inside the shop. What goes wrong at the delivery service is no error of the shop but a
//! [`crate::SyncOutcome`].

use crate::LocalOrderId;

/// Why the shop could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    #[error("the shop's settings are not usable:\n{0}")]
    Settings(settings::SettingErrors),
    #[error("the order id must be 1 to 128 visible ASCII characters")]
    InvalidOrderId,
    #[error("order {0} was confirmed before")]
    OrderExists(LocalOrderId),
    #[error("there is no order {0}")]
    UnknownOrder(LocalOrderId),
    #[error("the order cannot be written as JSON: {0}")]
    Unwritable(#[from] serde_json::Error),
    #[error("the HTTP client cannot be built: {0}")]
    Client(#[source] reqwest::Error),
    #[error("the webhook receiver cannot listen: {0}")]
    Listen(#[from] std::io::Error),
    #[error("a task of the shop ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("the shop's tables cannot be brought up to date: {0:#}")]
    Migration(anyhow::Error),
    #[error("the shop's database cannot be used: {0}")]
    Database(#[from] postgres::StoreError),
    #[error("the shop's database refused a statement: {0}")]
    Query(#[from] diesel::result::Error),
    #[error("the shop's database holds {0:?}, which this version does not know")]
    UnknownText(String),
}
