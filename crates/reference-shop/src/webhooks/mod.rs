//! Receives webhooks: `receiver` verifies, stores and answers; `worker` applies stored webhooks; `decide` contains the
//! rules.

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
