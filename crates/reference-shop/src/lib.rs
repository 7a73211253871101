//! The reference integrator: the backend of a small shop that creates one delivery per confirmed order through the
//! integration API and tracks it by webhooks. Integrators may copy its code.
//!
//! Its rules, and where the code implements them:
//!
//! | rule | code |
//! | --- | --- |
//! | confirming an order only stores it; an outage of the delivery service never loses a customer's order | [`Shop::confirm_order`] |
//! | one order is one delivery: one attempt at a time, with the same reference and Idempotency-Key | [`Shop::sync_order`] |
//! | a retry is for one order, on request; there is no bulk sync and no sync at the start | [`Shop::sync_order`] |
//! | webhooks are verified on their raw bytes, stored and answered before they are processed | `webhooks/receiver.rs` |
//! | webhooks update only orders for which the shop requested a delivery, and never create one | `webhooks/decide.rs` |
//! | the API key and the signing secret stay in the backend and appear in no log | `waybill-client` |

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
