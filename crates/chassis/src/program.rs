//! The program of a service: `serve` (the default) and the other commands.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use diesel_migrations::EmbeddedMigrations;
use domain::{Clock, Entropy};
use settings::{Environment, Settings, Telemetry};
use tokio::runtime::Builder;
use tokio::task::LocalSet;

use crate::commands::{Command, version};
use crate::health::health;
use crate::tables::{TableSettings, schema};
use crate::{Chassis, Running, Sections, ServiceSettings};

/// Runs the command of the first argument with the settings of this process. `own` runs the commands `C` of this
/// service alone.
///
/// # Errors
/// When the settings are invalid or the command fails. Invalid arguments end the process with exit code 2.
pub fn main<S: ServiceSettings, C: Subcommand>(
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
    own: impl FnOnce(C) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let command = Command::<C>::read(S::SERVICE, std::env::args_os()).unwrap_or_else(|error| error.exit());
    match command {
        Command::Own(command) => return own(command),
        Command::Health => health(),
        Command::Version => print(&version(S::SERVICE)),
        Command::Settings(arguments) if arguments.check => Ok(settings::check::<S>()?),
        Command::Settings(_) => print(&serde_json::to_string_pretty(&settings::describe::<S>()?)?),
        Command::Schema(arguments) => {
            let patience = arguments.patience();
            with_settings(async |settings: &TableSettings| settings.await_schema(migrations, patience).await)
        }
        Command::Migrate => with_logs::<S, TableSettings>(
            |settings| &settings.telemetry,
            async |settings| settings.migrate(migrations).await,
        ),
        Command::Serve => with_logs::<S, S>(
            |settings| settings.sections().telemetry,
            async |settings| serve(settings, migrations, start).await,
        ),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Runs work of the service `S` with the settings `L`, logs and traces.
fn with_logs<S: ServiceSettings, L: Settings>(
    telemetry_of: impl FnOnce(&L) -> &Telemetry,
    work: impl AsyncFnOnce(&L) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let settings: L = settings::load()?;
    let mut builder =
        if S::HAS_ONE_THREAD { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.enable_all().build()?;
    let outcome = LocalSet::new().block_on(&runtime, async {
        let telemetry = telemetry::init(telemetry_of(&settings), S::SERVICE)?;
        let unknown = settings::unknown_variables::<S>()?;
        if !unknown.is_empty() {
            tracing::warn!(variables = %unknown.join(", "), "unknown settings ignored");
        }
        let outcome = work(&settings).await;
        telemetry.stop();
        outcome
    });
    // A blocking name lookup must not delay the end of the process.
    runtime.shutdown_background();
    outcome
}

/// Only warns, because the network may be private to this installation.
fn warn_of_open_lines(sections: Sections<'_>) {
    if sections.environment != Environment::Production {
        return;
    }
    if let Some(exposure) = postgres::exposure(sections.database) {
        tracing::warn!("database traffic {exposure}; use sslmode=verify-full");
    }
    if let Some(exposure) = messaging::exposure(sections.broker) {
        tracing::warn!("broker traffic {exposure}; use an amqps:// URL");
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Runs a command of this service alone with its settings, read from this process. They may be fewer than those of the
/// service. It writes no logs, because its output is for
/// the person who runs it.
///
/// # Errors
/// When the settings are invalid, or the command fails.
pub fn command<S: Settings, T>(work: impl AsyncFnOnce(&S) -> anyhow::Result<T>) -> anyhow::Result<T> {
    with_settings(work)
}

fn with_settings<L: Settings, T>(work: impl AsyncFnOnce(&L) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let settings: L = settings::load()?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(work(&settings))
}

async fn serve<S: ServiceSettings>(
    settings: &S,
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    warn_of_open_lines(settings.sections());
    let schema = schema(settings.sections().database, migrations)?;
    let entropy = Entropy::from_system().context("the operating system provides no randomness")?;
    let metrics = telemetry::install_metrics(S::SERVICE)?;
    let mut chassis = Chassis::new(settings, metrics, Clock::system(), entropy)?;
    if chassis.await_schema(&schema).await? { start(settings, chassis)?.run().await } else { Ok(()) }
}
