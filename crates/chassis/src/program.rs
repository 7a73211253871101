//! A service as a program: `serve` (the default), and what prepares for it or looks at it.

use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use diesel_migrations::EmbeddedMigrations;
use domain::{Clock, Entropy};
use postgres::Schema;
use settings::{Database, Environment};

use crate::commands::Command;
use crate::health::health;
use crate::{Chassis, Running, Sections, ServiceSettings};

/// Runs the program as its first argument says, with the settings of this process.
///
/// # Errors
/// When the settings are not usable, the argument is no command, or the command fails.
pub fn main<S: ServiceSettings>(
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    match Command::read(S::COMMANDS, std::env::args().skip(1))? {
        Command::Health => health(),
        Command::Settings => print_settings::<S>(),
        Command::Schema { patience } => command(async |settings: &S| {
            await_schema(settings.sections().database, migrations, patience).await
        }),
        Command::Migrate => {
            with_logs(async |settings: &S| migrate(settings.sections().database, migrations).await)
        }
        Command::Serve => with_logs(async |settings: &S| serve(settings, migrations, start).await),
    }
}

/// Runs work that tells of itself in logs and traces.
fn with_logs<S: ServiceSettings>(work: impl AsyncFnOnce(&S) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let settings: S = settings::load()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let telemetry = telemetry::init(settings.sections().telemetry, S::SERVICE)?;
        let unknown = settings::unknown_variables::<S>()?;
        if !unknown.is_empty() {
            tracing::warn!(variables = %unknown.join(", "), "this service has no such settings");
        }
        warn_of_open_lines(settings.sections());
        let outcome = work(&settings).await;
        telemetry.stop();
        outcome
    });
    // A name server that does not answer would hold the process in the middle of a look-up that nobody waits for any more.
    runtime.shutdown_background();
    outcome
}

/// A network may be one that only this stack uses, which is for the platform to know; so this is no fault of the settings.
fn warn_of_open_lines(sections: Sections<'_>) {
    if sections.environment != Environment::Production {
        return;
    }
    if let Some(exposure) = postgres::exposure(sections.database) {
        tracing::warn!("what is said to the database {exposure}; sslmode=verify-full prevents it");
    }
    if let Some(exposure) = messaging::exposure(sections.broker) {
        tracing::warn!("what is said to the broker {exposure}; an amqps:// URL prevents it");
    }
}

fn print_settings<S: ServiceSettings>() -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(&settings::describe::<S>()?)?;
    text.push('\n');
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// What follows the name of a command that only this service has, when that is what the program was told to do.
pub fn told_to(command: &str) -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip(1);
    (arguments.next().as_deref() == Some(command)).then(|| arguments.collect())
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

async fn await_schema(
    database: &Database,
    migrations: EmbeddedMigrations,
    patience: Duration,
) -> anyhow::Result<()> {
    schema(database, migrations)?.wait_at_most(patience).await
}

fn schema(database: &Database, migrations: EmbeddedMigrations) -> anyhow::Result<Schema> {
    Schema::new(database, &[outbox::MIGRATIONS, migrations])
}

async fn serve<S: ServiceSettings>(
    settings: &S,
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    let schema = schema(settings.sections().database, migrations)?;
    let entropy = Entropy::from_system().context("the system gives no randomness")?;
    let metrics = telemetry::install_metrics(S::SERVICE)?;
    let mut chassis = Chassis::new(settings, metrics, Clock::system(), entropy)?;
    if chassis.await_schema(&schema).await? { start(settings, chassis)?.run().await } else { Ok(()) }
}
