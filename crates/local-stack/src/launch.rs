//! How to start a program: arguments, environment, account, and a kernel guarantee that it never outlives us.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::account::Account;

/// A longer log is rotated; one previous log is kept.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A program that can be started repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    withheld: Vec<&'static str>,
    inherits_environment: bool,
    account: Option<Account>,
    /// The signal that the kernel sends to the program when we die.
    death_signal: &'static str,
    log: PathBuf,
}

impl Launch {
    /// A program that inherits our environment and dies with us.
    pub(crate) fn new(program: impl Into<OsString>, log: &Path) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            withheld: Vec::new(),
            inherits_environment: true,
            account: None,
            death_signal: "KILL",
            log: log.to_owned(),
        }
    }

    /// A program that inherits only the search path: a stray `PGHOST` or `ERL_FLAGS` must not affect a private server.
    pub(crate) fn isolated(program: impl Into<OsString>, log: &Path) -> Self {
        let mut launch = Self::new(program, log);
        launch.inherits_environment = false;
        launch.variable("PATH", settings::search_path()).variable("LANG", "C.UTF-8")
    }

    /// The same with another program.
    pub(crate) fn program(mut self, program: impl Into<OsString>) -> Self {
        self.program = program.into();
        self
    }

    /// The same with another log.
    pub(crate) fn log(mut self, log: &Path) -> Self {
        log.clone_into(&mut self.log);
        self
    }

    pub(crate) fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Removes a variable from the inherited environment.
    pub(crate) fn without(mut self, variable: &'static str) -> Self {
        self.withheld.push(variable);
        self
    }

    pub(crate) fn account(mut self, account: Option<Account>) -> Self {
        self.account = account;
        self
    }

    pub(crate) fn death_signal(mut self, signal: &'static str) -> Self {
        self.death_signal = signal;
        self
    }

    /// The command, wrapped in util-linux's `setpriv`, which switches to the account and has the kernel kill the
    /// program when the starting thread ends. The program replaces `setpriv` and keeps its process id.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("setpriv");
        if let Some(Account { uid, gid }) = self.account {
            command.args([format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".into()]);
        }
        command.args(["--pdeathsig", self.death_signal, "--"]).arg(&self.program).args(&self.arguments);
        if !self.inherits_environment {
            command.env_clear();
        }
        for variable in &self.withheld {
            command.env_remove(variable);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // Its own process group, so that Ctrl-C reaches only the supervisor, which then stops the programs in order.
        command.process_group(0).stdin(Stdio::null());
        command
    }

    /// The command with its output appended to the log.
    pub(crate) fn logged_command(&self) -> anyhow::Result<Command> {
        let log = open_log(&self.log)?;
        let mut command = self.command();
        command.stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }

    /// The last lines of the log, for error messages.
    pub(crate) fn log_tail(&self) -> String {
        log_tail(&self.log)
    }
}

/// The last lines of a log, with its path.
pub(crate) fn log_tail(path: &Path) -> String {
    const LINES: usize = 25;
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(LINES)..].join("\n");
    format!("the end of {}:\n{tail}", path.display())
}

fn open_log(path: &Path) -> anyhow::Result<File> {
    let is_long = fs::metadata(path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX);
    if is_long {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    options.open(path).with_context(|| format!("opening {}", path.display()))
}
