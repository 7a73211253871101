//! The data directory of a private PostgreSQL: its place, creation and owner.

use std::fs;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::process::Command;
use tokio::time::timeout;

use super::PostgresOptions;
use super::admin::ADMIN;
use crate::account::Account;
use crate::launch::{Launch, log_tail};
use crate::paths;

const INITIALISE_LIMIT: Duration = Duration::from_secs(120);

/// A directory that the server's account can reach. `directory` links to it when it is elsewhere.
pub(super) fn home(directory: &Path, account: Option<Account>) -> anyhow::Result<PathBuf> {
    paths::stack_directory(directory)?;
    let link = directory.join("postgres");
    if link.exists() {
        return Ok(fs::canonicalize(link)?);
    }
    let home = paths::directory_for(account, directory)?.join("postgres");
    if !home.exists() {
        paths::private_directory(&home)?;
        if let Some(account) = account {
            account.take_over(&home)?;
        }
    }
    if home != link {
        // The link's target was deleted.
        let _absent = fs::remove_file(&link);
        symlink(&home, &link)?;
    }
    Ok(home)
}

/// Data that root created belongs to another account and is unreadable for us, and vice versa.
pub(super) fn check_owner(home: &Path, account: Option<Account>) -> anyhow::Result<()> {
    let us = account.map_or(rustix::process::geteuid().as_raw(), |account| account.uid);
    let owner = fs::metadata(home)?.uid();
    ensure!(
        owner == us,
        "the data in {} belongs to uid {owner}, but PostgreSQL would run as uid {us}; run as who made it, \
         or forget the data with `make reset`",
        home.display()
    );
    Ok(())
}

/// Creates the data next to its final place and moves it there, so that an interrupted start leaves nothing incomplete.
pub(super) async fn initialise(
    options: &PostgresOptions,
    account: Option<Account>,
    programs: &Path,
    home: &Path,
    log: &Path,
) -> anyhow::Result<()> {
    let unfinished = home.join("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    let password = home.join("password");
    write_password(&password, &options.password, account)?;
    let mut initdb = Launch::isolated(programs.join("initdb"), log)
        .account(account)
        .argument(format!("--pgdata={}", unfinished.display()))
        .argument(format!("--username={ADMIN}"))
        .argument(format!("--pwfile={}", password.display()))
        .argument("--auth=scram-sha-256")
        .argument("--encoding=UTF8")
        .argument("--locale=C");
    if !options.survives_power_cuts {
        initdb = initdb.argument("--no-sync");
    }
    let mut command = Command::from(initdb.logged_command()?);
    command.current_dir("/").kill_on_drop(true);
    let status = timeout(INITIALISE_LIMIT, command.status()).await.context("initdb took too long")??;
    fs::remove_file(&password)?;
    ensure!(status.success(), "initdb failed; {}", log_tail(log));
    fs::rename(&unfinished, home.join("data"))?;
    Ok(())
}

fn write_password(path: &Path, password: &str, account: Option<Account>) -> anyhow::Result<()> {
    use std::io::Write;
    let _absent = fs::remove_file(path);
    let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    writeln!(file, "{password}")?;
    if let Some(account) = account {
        account.take_over(path)?;
    }
    Ok(())
}

/// The server of a killed supervisor may still be stopping. A second server refuses to start until it has ended.
pub(super) async fn wait_for_predecessor(data: &Path) -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else {
        return Ok(());
    };
    let Some(pid) = text.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else {
        return Ok(());
    };
    let data = data.to_string_lossy().into_owned();
    let gone = async || {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        !String::from_utf8_lossy(&words).contains(&data)
    };
    crate::wait::until("the previous PostgreSQL of this directory to end", Duration::from_secs(15), gone)
        .await
}
