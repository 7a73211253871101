//! webhook-dispatcher: sends order events to the endpoints of businesses (SPECIFICATION §4.2, §5.5, §6, §11). It owns
//! endpoints, subscriptions, and the log of deliveries.

mod commands;
mod consumers;
mod domain;
mod queries;
mod routes;
mod secrets;
mod sender;
mod settings;
mod start;
mod state;
mod store;
mod workers;

pub use domain::RetrySchedule;
pub use outbound::{AddressRanges, NameServers};
pub use settings::{Secrets, Settings, Webhooks};
pub use start::{rewrap, start};
pub use store::TABLES;
