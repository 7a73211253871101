//! webhook-dispatcher: tells endpoints of what happens to orders (`spec.md` §4.2, §5.5, §6; `design.md` §4). It alone knows
//! which endpoints exist, what they subscribed to, and what was sent to them.

mod announcements;
mod app;
mod commands;
mod consumers;
mod counters;
mod domain;
mod queries;
mod recoverer;
mod retention;
mod rewrap;
mod routes;
mod secret_keeper;
mod secrets;
mod sender;
mod settings;
mod store;
mod sweeper;

pub use app::start;
pub use domain::{AddressRanges, NameServers, RetrySchedule};
pub use rewrap::main as rewrap;
pub use settings::{Secrets, Settings, Webhooks};
pub use store::MIGRATIONS;
