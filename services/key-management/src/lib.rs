//! key-management: API keys (SPECIFICATION §2.4). Only this service stores keys. The other services ask it to verify a key,
//! and the event `api_key.revoked` announces each revocation to their caches.

mod commands;
mod domain;
mod queries;
mod routes;
mod settings;
mod start;
mod state;
mod store;
mod usage;
mod workers;

pub use settings::{Keys, Settings};
pub use start::start;
pub use store::TABLES;
