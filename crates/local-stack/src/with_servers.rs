//! `local-stack with-servers -- <command…>`: one PostgreSQL and one RabbitMQ for all test programs of a command.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use local_stack::TestServers;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// The interval of removing what ended tests left.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(5);

/// Runs the command and returns its exit code. The servers stop with the command.
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
    // The command stays in our process group, so that Ctrl-C reaches it, and the kernel kills it if we are killed.
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
            // The terminal sent the signal to the command too. It ends first, then the servers.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => child.start_kill()?,
        }
    };
    cleaning.abort();
    // Awaited, so that it releases the servers.
    let _cancelled = cleaning.await;
    if let Some(servers) = Arc::into_inner(servers) {
        servers.shut_down()?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Removes what ended tests left while the command runs.
async fn clean_up(servers: Arc<TestServers>) {
    loop {
        tokio::time::sleep(CLEAN_UP_EVERY).await;
        // Tests continue on a failure. The next round or the end of the servers removes the rest.
        if let Err(error) = servers.drop_leftovers().await {
            eprintln!("cannot remove the data of ended tests: {error:#}");
        }
    }
}
