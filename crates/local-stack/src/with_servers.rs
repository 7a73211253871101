//! `local-stack with-servers -- <command…>`: one PostgreSQL and one RabbitMQ for all test programs of a command.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use local_stack::TestServers;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// How often what ended tests left is removed.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(5);

/// Runs the command and answers its exit code. The servers end with it.
pub(crate) async fn with_servers(command: &[OsString]) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let servers = tokio::select! {
        servers = TestServers::start() => servers?,
        _ = interrupt.recv() => return Ok(ExitCode::FAILURE),
        _ = terminate.recv() => return Ok(ExitCode::FAILURE),
    };
    let servers = Arc::new(servers);
    let cleaning = tokio::spawn(clean_up(Arc::clone(&servers)));
    // In our group, so that Ctrl-C reaches the command too; and ended with us, should we be killed.
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "TERM", "--"])
        .args(command)
        .env(TestServers::VARIABLE, servers.offer()?)
        .kill_on_drop(true)
        .spawn()
        .context("starting setpriv (of util-linux)")?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            // The terminal told the command as well. It ends first, then the servers.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => child.start_kill()?,
        }
    };
    cleaning.abort();
    // Awaited, so that it does not hold the servers any more.
    let _cancelled = cleaning.await;
    if let Some(servers) = Arc::into_inner(servers) {
        servers.shut_down()?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Removes what ended tests left, for as long as the command runs.
async fn clean_up(servers: Arc<TestServers>) {
    loop {
        tokio::time::sleep(CLEAN_UP_EVERY).await;
        // Tests go on without it: what could not be removed now is removed in the next round, or with the servers.
        if let Err(error) = servers.drop_leftovers().await {
            eprintln!("removing what ended tests left: {error:#}");
        }
    }
}
