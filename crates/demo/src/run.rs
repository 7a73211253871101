//! Runs Waybill and its demo on this machine until Ctrl-C.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use demo::play;
use local_stack::{Listener, Notice, Stack, StackOptions, say};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of a program that Ctrl-C ended, as shells report it.
const INTERRUPTED: u8 = 130;

pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    let mut requests = StopRequests::new()?;
    let is_up = Arc::new(AtomicBool::new(false));
    let options = StackOptions::new(&local_stack::local_stack_directory())
        .progress(Arc::new(|line| say(&format!("  {line}"))))
        .listener(notices(Arc::clone(&is_up)));

    say("Starting Waybill…");
    let stack = tokio::select! {
        stack = Stack::start(options) => stack?,
        () = requests.next() => {
            // Dropping the unfinished start stops everything that it started.
            say("Stopped during the start.");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    is_up.store(true, Ordering::Relaxed);

    let played = tokio::select! {
        played = play(&stack, &say) => played,
        () = requests.next() => return stop(stack, requests).await,
    };
    if let Err(error) = played {
        stack.shut_down().await?;
        return Err(error.context("the demo failed; everything is stopped"));
    }
    requests.next().await;
    stop(stack, requests).await
}

/// Stops in order, or at once on a second request.
async fn stop(stack: Stack, mut requests: StopRequests) -> anyhow::Result<ExitCode> {
    say("\nStopping… (press Ctrl-C again to stop at once)");
    tokio::select! {
        stopped = stack.shut_down() => stopped?,
        () = requests.next() => {}
    }
    say("Stopped. The data is kept; `make reset` deletes it.");
    Ok(ExitCode::SUCCESS)
}

/// Reports process failures and restarts. During the start, progress and errors are enough.
fn notices(is_up: Arc<AtomicBool>) -> Listener {
    Arc::new(move |notice| match notice {
        Notice::Failed { name, why } => say(&format!("! {name}: {why}")),
        _ if !is_up.load(Ordering::Relaxed) => {}
        Notice::Started { name, pid } => say(&format!("! {name} restarted (process {pid})")),
        Notice::Died { name, how } => say(&format!("! {name} {how}; restarting it")),
    })
}

/// The signals that request a stop: Ctrl-C, SIGTERM, and a closed terminal.
struct StopRequests {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopRequests {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
