//! The demo of `make run`: the main job through the public APIs, and clients of these APIs that tests share.

pub mod clients;
mod inbox;
mod orders;
mod play;
mod progress;
mod saved_endpoint;

pub use inbox::{Inbox, ReceivedWebhook};
pub use orders::{SAMPLE_CASH_PAISE, SAMPLE_FEE_PAISE, sample_order, sample_prepaid_order};
pub use play::play;
pub use progress::eventually;
