//! Receiving webhooks: `receiver` verifies, stores and answers; `worker` applies what was stored; `decide` is the rule
//! of what a webhook may do to an order.

mod decide;
mod event;
mod pause;
mod receiver;
mod server;
mod worker;

pub use decide::WebhookOutcome;
pub(crate) use pause::Pause;
pub use receiver::WEBHOOK_PATH;
pub use server::WebhookServer;
