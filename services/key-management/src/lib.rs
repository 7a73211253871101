//! key-management: API keys (`spec.md` §2.4). It alone knows which keys exist; the others ask it, and are told of a key
//! that stops working by `api_key.revoked`.

mod app;
mod commands;
mod domain;
mod last_uses;
mod queries;
mod routes;
mod settings;
mod store;
mod workers;

pub use app::start;
pub use settings::{Keys, Settings};
pub use store::MIGRATIONS;
