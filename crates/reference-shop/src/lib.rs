//! The reference integrator: a small shop back end that creates one delivery per confirmed order through the
//! integration API, and follows it by webhooks. Its code is there to be copied from.
//!
//! The rules it keeps, and where:
//!
//! | rule | kept in |
//! | --- | --- |
//! | confirming an order stores it and nothing else; the delivery service being down never costs a customer's order | [`Shop::confirm_order`] |
//! | one order is one delivery: one claim at a time, the same reference and Idempotency-Key at every attempt | [`Shop::sync_order`] |
//! | a retry is for one order, when somebody asks for it; there is no bulk sync and none at start | [`Shop::sync_order`] |
//! | webhooks are verified on their raw bytes, stored, answered, and only then worked off | `webhooks/receiver.rs` |
//! | webhooks update orders that the shop asked a delivery for, and never create one | `webhooks/decide.rs` |
//! | the API key and the signing secret never leave the back end and are in no log | `client.rs` |

mod client;
mod error;
mod new_order;
mod order;
mod settings_section;
mod shop;
mod store;
mod sync;
mod webhooks;

pub use error::ShopError;
pub use new_order::{Customer, DeliveryAddress, Item, NewOrder, Notes, Package, Payment, Pickup};
pub use order::{DeliveryDetails, LocalOrder, LocalOrderId, ReceivedWebhook, SyncOutcome, SyncStatus};
pub use settings_section::{Modes, ShopSettings};
pub use shop::Shop;
pub use webhooks::{WEBHOOK_PATH, WebhookOutcome, WebhookServer};
