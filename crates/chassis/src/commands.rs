//! The command line of a service.

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// `C` contains the commands of this service alone; [`NoCommands`] if it has none.
#[derive(Debug, Parser)]
#[command(about = None, long_about = None, disable_version_flag = true, after_help = "Settings are environment variables: see `settings`.")]
struct CommandLine<C: Subcommand> {
    #[command(subcommand)]
    command: Option<Command<C>>,
    /// Print name and version
    #[arg(short = 'V', long)]
    version: bool,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Command<C: Subcommand> {
    /// Serve until SIGTERM or SIGINT (the default)
    Serve,
    /// Create or update the tables
    Migrate,
    /// Ask the instance on this machine whether it is ready
    Health,
    /// Print all settings as JSON, or check those of this process
    Settings(SettingsArguments),
    /// Print name and version
    Version,
    #[command(flatten)]
    Own(C),
}

#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SettingsArguments {
    /// Check the settings of this process instead
    #[arg(long)]
    pub(crate) check: bool,
}

/// For a service without its own commands.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum NoCommands {}

/// All programs share one version.
pub(crate) fn version(service: &str) -> String {
    format!("{service} {}", env!("CARGO_PKG_VERSION"))
}

impl<C: Subcommand> Command<C> {
    /// # Errors
    /// Includes the texts of `--help`: print them with [`clap::Error::exit`].
    pub(crate) fn read(
        service: &'static str,
        words: impl Iterator<Item = std::ffi::OsString>,
    ) -> Result<Self, clap::Error> {
        let matches = CommandLine::<C>::command().name(service).try_get_matches_from(words)?;
        let line = CommandLine::<C>::from_arg_matches(&matches)?;
        Ok(if line.version { Self::Version } else { line.command.unwrap_or(Self::Serve) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, Subcommand)]
    enum Mint {
        /// Make a coin
        Coin {
            #[arg(long)]
            gold: bool,
        },
    }

    fn read(words: &str) -> Result<Command<Mint>, String> {
        let words = std::iter::once("mint").chain(words.split_whitespace()).map(Into::into);
        Command::read("mint", words).map_err(|error| error.to_string())
    }

    #[test]
    fn commands_are_parsed() {
        let settings = |check| Command::Settings(SettingsArguments { check });
        for (words, command) in [
            ("", Command::Serve),
            ("serve", Command::Serve),
            ("migrate", Command::Migrate),
            ("health", Command::Health),
            ("settings", settings(false)),
            ("settings --check", settings(true)),
            ("version", Command::Version),
            ("--version", Command::Version),
            ("-V", Command::Version),
            ("coin --gold", Command::Own(Mint::Coin { gold: true })),
        ] {
            assert_eq!(read(words), Ok(command), "{words}");
        }
    }

    #[test]
    fn help_names_every_command() {
        for words in ["help", "--help", "-h"] {
            let text = read(words).unwrap_err();
            for name in ["serve", "migrate", "health", "settings", "version", "help", "coin"] {
                assert!(text.contains(&format!("\n  {name} ")), "{name} in {text}");
            }
        }
    }

    #[test]
    fn unknown_arguments_are_refused() {
        for (words, named) in
            [("dance", "'dance'"), ("migrate now", "'now'"), ("settings --colour", "'--colour'")]
        {
            let refusal = read(words).unwrap_err();
            assert!(refusal.contains(named), "{words}: {refusal}");
        }
    }

    #[test]
    fn a_service_may_have_no_own_commands() {
        let words = ["mint", "serve"].into_iter().map(Into::into);
        assert_eq!(Command::<NoCommands>::read("mint", words).unwrap(), Command::Serve);
    }
}
