//! The program of a service: `serve` (the default) and the other commands.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use domain::{Clock, Entropy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, SettingErrors, Settings, Telemetry};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;

use crate::commands::{Command, version};
use crate::health::health;
use crate::tables::{TableSettings, Tables, schema};
use crate::{Chassis, Running, Sections, ServiceSettings, sections};

/// Runs the command of the first argument with the settings of this process. `own` runs the commands `C` of this
/// service alone.
///
/// # Errors
/// When the settings are invalid or the command fails. Invalid arguments end the process with exit code 2.
pub fn main<S: ServiceSettings, C: Subcommand>(
    tables: Tables,
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
        Command::Migrate => {
            return with_logs::<S, TableSettings>(async |settings| {
                unless_terminated(settings.migrate(tables)).await
            });
        }
        Command::Serve => {
            return with_logs::<S, S>(async |settings| serve(settings, tables, start).await);
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

/// How to log, also that other settings are invalid.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
struct LogSettings {
    #[serde(default)]
    telemetry: Telemetry,
}

impl Settings for LogSettings {
    fn check(&self, errors: &mut SettingErrors) {
        sections::check_telemetry(&self.telemetry, errors);
    }
}

/// Runs work of the service `S` with the settings `L`, logs and traces. An error is logged like everything else.
fn with_logs<S: ServiceSettings, L: Settings>(
    work: impl AsyncFnOnce(&L) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    // If these are invalid, the error of all settings says so.
    let LogSettings { telemetry } = settings::load().unwrap_or_default();
    let mut builder =
        if S::HAS_ONE_THREAD { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.enable_all().build()?;
    let code = LocalSet::new().block_on(&runtime, async {
        let telemetry = telemetry::init(&telemetry, S::SERVICE)?;
        let outcome = run::<S, L>(work).await;
        if let Err(error) = &outcome {
            tracing::error!(error = format!("{error:#}"), "ended by an error");
        }
        telemetry.stop();
        anyhow::Ok(if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    });
    // A blocking name lookup must not delay the end of the process.
    runtime.shutdown_background();
    code
}

async fn run<S: ServiceSettings, L: Settings>(
    work: impl AsyncFnOnce(&L) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let settings: L = settings::load()?;
    let unknown = settings::unknown_variables::<S>()?;
    if !unknown.is_empty() {
        tracing::warn!(variables = %unknown.join(", "), "unknown settings ignored");
    }
    work(&settings).await
}

/// The first process of a container gets only the signals that it listens for.
async fn unless_terminated(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        outcome = work => outcome,
        _ = terminated.recv() => bail!("stopped before the end"),
    }
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
    tables: Tables,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    warn_of_open_lines(settings.sections());
    let schema = schema(settings.sections().database, tables.migrations)?;
    let entropy = Entropy::from_system().context("the operating system provides no randomness")?;
    let metrics = telemetry::install_metrics(S::SERVICE)?;
    let mut chassis = Chassis::new(settings, metrics, Clock::system(), entropy)?;
    if chassis.await_schema(&schema).await? { start(settings, chassis)?.run().await } else { Ok(()) }
}
