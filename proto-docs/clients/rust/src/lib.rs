//! Client for the delivery API: orders, webhooks and the feed of events. The README shows how to use it.

#[cfg(feature = "actix")]
pub mod actix;
mod client;
mod database;
mod elements;
mod errors;
mod events;
mod options;
mod orders;
mod phone;
mod receiver;
mod redact;
mod retry;
mod sync;
mod sync_store;
mod transport;
mod types;
pub mod webhooks;

pub use client::Waybill;
pub use database::{Database, Row, TABLES};
pub use errors::{ApiError, ApiErrorKind, Error, NoAnswer, Result, WebhookError};
pub use events::{CursorStore, EventFilters, EventPage, Events, Follow, FollowHook, FollowOptions};
pub use options::{ClientOptions, Environment, Exchange, ExchangeResult, Hook, SystemEnvironment};
pub use orders::{Created, OrderBody, OrderFilters, Orders, Pages};
pub use phone::indian_phone;
pub use receiver::{Apply, Receipt, ReceiveError, Receiver};
pub use sync::{OrderSync, SyncOutcome};
pub use sync_store::{
    Claim, OpenRecord, SqlSyncStore, SyncError, SyncRecord, SyncStatus, SyncStore, sha256_of,
};
pub use types::*;
