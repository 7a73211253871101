//! Accounts, sessions, business profile, go-live and status indicators: the back end of the portal.
//!
//! It owns who a business is and whether it may order for real. Keys, webhooks, wallets and orders belong to other
//! services; their calls are passed on with the session's business, which nothing in a request can change.

mod app;
mod commands;
mod consumers;
mod domain;
mod live_orders;
mod passwords;
mod peers;
mod queries;
mod routes;
pub mod settings;
mod store;

use anyhow::Context as _;

pub use app::{Service, start};

use crate::settings::PortalSettings;

const SERVICE: &str = "portal-api";

/// Runs the program: `serve` (also without an argument) or `migrate`.
///
/// # Errors
/// When the settings are not usable, or the service fails.
pub fn main() -> anyhow::Result<()> {
    let wanted = std::env::args().nth(1);
    let settings: PortalSettings = ::settings::load()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let telemetry = telemetry::init(&settings.telemetry, SERVICE)?;
        let outcome = match wanted.as_deref() {
            None | Some("serve") => serve(&settings).await,
            Some("migrate") => migrate(&settings).await,
            Some(other) => Err(anyhow::anyhow!("portal-api knows `serve` and `migrate`, not `{other}`")),
        };
        telemetry.stop();
        outcome
    })
}

/// Brings the database's tables up to date.
///
/// # Errors
/// When the database cannot be reached or refuses.
pub async fn migrate(settings: &PortalSettings) -> anyhow::Result<()> {
    postgres::migrate(&settings.database, vec![outbox::MIGRATIONS, store::MIGRATIONS]).await
}

async fn serve(settings: &PortalSettings) -> anyhow::Result<()> {
    let entropy = ::domain::Entropy::from_system().context("the system gives no randomness")?;
    let metrics = telemetry::install_metrics(SERVICE)?;
    start(settings, ::domain::Clock::system(), entropy, metrics)?.run().await
}
