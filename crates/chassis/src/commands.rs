//! What every service can be told to do.

use std::time::Duration;

/// Longer than any migration that a roll-out waits for.
const PATIENCE_MAX_SECONDS: u64 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Serve,
    Migrate,
    /// Asks the instance on this machine whether it is ready.
    Health,
    /// Waits until the tables are as this program expects.
    Schema {
        patience: Duration,
    },
    /// Prints what can be set.
    Settings,
    /// Says whether the settings of this process are fit to serve with.
    CheckSettings,
    Help,
    Version,
}

/// What every service takes, and what for.
const COMMANDS: [(&str, &str); 7] = [
    ("serve", "serves; so it does without a command, too"),
    ("migrate", "creates or updates the tables, and ends"),
    ("schema [--patience SECONDS]", "waits until the tables are as this program expects"),
    ("health", "asks the instance on this machine whether it is ready"),
    ("settings [--check]", "prints what can be set, as JSON; or checks what is set"),
    ("help, --help", "prints this"),
    ("version, --version", "prints name and version"),
];

pub(crate) fn help(service: &str, own: &[&str]) -> String {
    let own = own.iter().map(|name| (*name, "only this service has it"));
    let lines: String =
        COMMANDS.into_iter().chain(own).map(|(name, what)| format!("\n  {name:28} {what}")).collect();
    format!(
        "{}\n\nusage: {service} [command]\n{lines}\n\nSettings are environment variables.",
        version(service)
    )
}

/// All programs are released together.
pub(crate) fn version(service: &str) -> String {
    format!("{service} {}", env!("CARGO_PKG_VERSION"))
}

/// Whether what follows a command asks for help: it is not done then.
fn is_help(rest: &[String]) -> bool {
    rest.iter().any(|word| matches!(word.as_str(), "--help" | "-h"))
}

impl Command {
    const DEFAULT_PATIENCE: Duration = Duration::from_secs(300);

    /// `own` are the commands that the service knows beside these. What takes no argument refuses one.
    pub(crate) fn read(own: &[&str], mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let name = arguments.next().unwrap_or_else(|| "serve".into());
        let rest: Vec<String> = arguments.collect();
        let command = match name.as_str() {
            "help" | "--help" | "-h" => Self::Help,
            "version" | "--version" | "-V" => Self::Version,
            "serve" => Self::Serve,
            "migrate" => Self::Migrate,
            "health" => Self::Health,
            "schema" if !is_help(&rest) => return Ok(Self::Schema { patience: patience(&rest)? }),
            "schema" => Self::Help,
            "settings" if rest == ["--check"] => return Ok(Self::CheckSettings),
            "settings" => Self::Settings,
            other => {
                let own: String = own.iter().map(|command| format!(", {command}")).collect();
                anyhow::bail!(
                    "{other} is no command; there are serve (the default), migrate, schema, health, settings, help, version{own}"
                );
            }
        };
        match rest.first() {
            _ if is_help(&rest) => Ok(Self::Help),
            Some(further) => anyhow::bail!("{name} takes no argument, but there is {further}"),
            None => Ok(command),
        }
    }
}

fn patience(rest: &[String]) -> anyhow::Result<Duration> {
    let usage = "schema takes --patience SECONDS, or nothing";
    match rest {
        [] => Ok(Command::DEFAULT_PATIENCE),
        [flag, seconds] if flag == "--patience" => match seconds.parse() {
            Ok(seconds) if seconds <= PATIENCE_MAX_SECONDS => Ok(Duration::from_secs(seconds)),
            _ => anyhow::bail!("{usage}; at most {PATIENCE_MAX_SECONDS}"),
        },
        _ => anyhow::bail!(usage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Command, String> {
        let words = words.split_whitespace().map(str::to_owned);
        Command::read(&["coin", "melt"], words).map_err(|error| error.to_string())
    }

    #[test]
    fn commands_are_read() {
        let patience = Command::DEFAULT_PATIENCE;
        for (words, command) in [
            ("", Command::Serve),
            ("serve", Command::Serve),
            ("migrate", Command::Migrate),
            ("health", Command::Health),
            ("settings", Command::Settings),
            ("settings --check", Command::CheckSettings),
            ("help", Command::Help),
            ("--help", Command::Help),
            ("-h", Command::Help),
            ("migrate --help", Command::Help),
            ("schema --help", Command::Help),
            ("version", Command::Version),
            ("--version", Command::Version),
            ("schema", Command::Schema { patience }),
            ("schema --patience 7", Command::Schema { patience: Duration::from_secs(7) }),
        ] {
            assert_eq!(read(words), Ok(command), "{words}");
        }
    }

    #[test]
    fn help_names_every_command() {
        let text = help("mint", &["coin", "melt"]);
        assert!(text.starts_with(&format!("mint {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
        for name in ["serve", "migrate", "schema", "health", "settings", "help", "version", "coin", "melt"] {
            assert!(text.contains(&format!("\n  {name}")), "{name} in {text}");
        }
    }

    #[test]
    fn whatever_else_is_said_is_refused() {
        let all =
            "there are serve (the default), migrate, schema, health, settings, help, version, coin, melt";
        for (words, refusal) in [
            ("dance", format!("dance is no command; {all}")),
            ("dance --help", format!("dance is no command; {all}")),
            ("migrate now", "migrate takes no argument, but there is now".into()),
            ("settings --colour", "settings takes no argument, but there is --colour".into()),
            ("serve now", "serve takes no argument, but there is now".into()),
            ("schema soon", "schema takes --patience SECONDS, or nothing".into()),
            ("schema --patience soon", "schema takes --patience SECONDS, or nothing; at most 86400".into()),
        ] {
            assert_eq!(read(words), Err(refusal), "{words}");
        }
    }
}
