//! A service as a program: `serve` (the default) and `migrate`.

use anyhow::Context as _;
use diesel_migrations::EmbeddedMigrations;
use domain::{Clock, Entropy};
use settings::Database;

use crate::{Chassis, Running, ServiceSettings};

/// What every service can be told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Serve,
    Migrate,
}

impl Command {
    /// `own` are the commands that the service knows beside these. Neither of these takes an argument: whoever asks for
    /// `migrate --help` must not find his tables changed.
    fn read(own: &[&str], mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let name = arguments.next();
        let command = match name.as_deref() {
            None | Some("serve") => Self::Serve,
            Some("migrate") => Self::Migrate,
            Some(other) => {
                let own: String = own.iter().map(|command| format!(", {command}")).collect();
                anyhow::bail!("{other} is no command; there are serve (the default), migrate{own}");
            }
        };
        match (name, arguments.next()) {
            (Some(name), Some(further)) => anyhow::bail!("{name} takes no argument, but there is {further}"),
            _ => Ok(command),
        }
    }
}

/// Runs the program as its first argument says, with the settings of this process.
///
/// # Errors
/// When the settings are not usable, the argument is no command, or the command fails.
pub fn main<S: ServiceSettings>(
    migrations: EmbeddedMigrations,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    let command = Command::read(S::COMMANDS, std::env::args().skip(1))?;
    let settings: S = settings::load()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let telemetry = telemetry::init(settings.sections().telemetry, S::SERVICE)?;
        let outcome = match command {
            Command::Serve => serve(&settings, start).await,
            Command::Migrate => migrate(settings.sections().database, migrations).await,
        };
        telemetry.stop();
        outcome
    })
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

async fn serve<S: ServiceSettings>(
    settings: &S,
    start: impl FnOnce(&S, Chassis) -> anyhow::Result<Running>,
) -> anyhow::Result<()> {
    let entropy = Entropy::from_system().context("the system gives no randomness")?;
    let metrics = telemetry::install_metrics(S::SERVICE)?;
    let chassis = Chassis::new(settings, metrics, Clock::system(), entropy)?;
    start(settings, chassis)?.run().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_whatever_else_is_said_is_refused() {
        let read = |words: &str| {
            let words = words.split_whitespace().map(str::to_owned);
            Command::read(&["coin", "melt"], words).map_err(|error| error.to_string())
        };
        assert_eq!(read(""), Ok(Command::Serve));
        assert_eq!(read("serve"), Ok(Command::Serve));
        assert_eq!(read("migrate"), Ok(Command::Migrate));
        for (words, refusal) in [
            ("dance", "dance is no command; there are serve (the default), migrate, coin, melt"),
            ("--help", "--help is no command; there are serve (the default), migrate, coin, melt"),
            ("migrate --help", "migrate takes no argument, but there is --help"),
            ("serve now", "serve takes no argument, but there is now"),
        ] {
            assert_eq!(read(words), Err(refusal.to_owned()), "{words}");
        }
    }
}
