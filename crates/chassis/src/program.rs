//! A service as a program: `serve` (the default) and `migrate`.

use anyhow::Context as _;
use diesel_migrations::EmbeddedMigrations;
use domain::{Clock, Entropy};
use settings::Database;

use crate::{Chassis, Running, ServiceSettings};

/// Runs the program as its first argument says, with the settings of this process.
///
/// # Errors
/// When the settings are not usable, the argument is no command, or the command fails.
pub fn main<S: ServiceSettings>(
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    let settings: S = settings::load()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let telemetry = telemetry::init(settings.sections().telemetry, S::SERVICE)?;
        let outcome = match std::env::args().nth(1).as_deref() {
            None | Some("serve") => serve(&settings, start).await,
            Some("migrate") => migrate(settings.sections().database, migrations).await,
            Some(other) => Err(anyhow::anyhow!("{other} is no command; there are serve and migrate")),
        };
        telemetry.stop();
        outcome
    })
}

/// Runs a command that only this service has, with the settings of this process. It writes no logs: what it prints is for
/// whoever ran it.
///
/// # Errors
/// When the settings are not usable, or the command fails.
pub fn command<S: ServiceSettings, T>(work: impl AsyncFnOnce(&S) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let settings: S = settings::load()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(work(&settings))
}

/// Creates or updates a service's tables, those of the outbox among them.
///
/// # Errors
/// When the database cannot be reached or refuses.
pub async fn migrate(database: &Database, migrations: EmbeddedMigrations) -> anyhow::Result<()> {
    postgres::migrate(database, vec![outbox::MIGRATIONS, migrations]).await
}

async fn serve<S: ServiceSettings>(
    settings: &S,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    let entropy = Entropy::from_system().context("the system gives no randomness")?;
    let metrics = telemetry::install_metrics(S::SERVICE)?;
    let chassis = Chassis::new(settings, metrics, Clock::system(), entropy)?;
    start(settings, chassis)?.run().await
}
