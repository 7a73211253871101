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
}

impl Command {
    const DEFAULT_PATIENCE: Duration = Duration::from_secs(300);

    /// `own` are the commands that the service knows beside these. What takes no argument refuses one: whoever asks for
    /// `migrate --help` must not find his tables changed.
    pub(crate) fn read(own: &[&str], mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let name = arguments.next().unwrap_or_else(|| "serve".into());
        let rest: Vec<String> = arguments.collect();
        let command = match name.as_str() {
            "serve" => Self::Serve,
            "migrate" => Self::Migrate,
            "health" => Self::Health,
            "schema" => return Ok(Self::Schema { patience: patience(&rest)? }),
            "settings" => Self::Settings,
            other => {
                let own: String = own.iter().map(|command| format!(", {command}")).collect();
                anyhow::bail!(
                    "{other} is no command; there are serve (the default), migrate, schema, health, settings{own}"
                );
            }
        };
        match rest.first() {
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
            ("schema", Command::Schema { patience }),
            ("schema --patience 7", Command::Schema { patience: Duration::from_secs(7) }),
        ] {
            assert_eq!(read(words), Ok(command), "{words}");
        }
    }

    #[test]
    fn whatever_else_is_said_is_refused() {
        let all = "there are serve (the default), migrate, schema, health, settings, coin, melt";
        for (words, refusal) in [
            ("dance", format!("dance is no command; {all}")),
            ("--help", format!("--help is no command; {all}")),
            ("migrate --help", "migrate takes no argument, but there is --help".into()),
            ("serve now", "serve takes no argument, but there is now".into()),
            ("schema soon", "schema takes --patience SECONDS, or nothing".into()),
            ("schema --patience soon", "schema takes --patience SECONDS, or nothing; at most 86400".into()),
        ] {
            assert_eq!(read(words), Err(refusal), "{words}");
        }
    }
}
