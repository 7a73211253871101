//! `local-stack run`: the whole of Waybill until Ctrl-C.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use local_stack::{Listener, Notice, Stack, StackOptions};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::demo;
use crate::say::say;

/// As a shell reports a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    let mut requests = StopRequests::new()?;
    let is_up = Arc::new(AtomicBool::new(false));
    let options = StackOptions::new(&local_stack::local_stack_directory())
        .progress(Arc::new(|line| say(&format!("  {line}"))))
        .listener(notices(Arc::clone(&is_up)));

    say("Starting Waybill");
    let stack = tokio::select! {
        stack = Stack::start(options) => stack?,
        () = requests.next() => {
            // The unfinished start is dropped, and with it all that it started.
            say("Stopped before all was ready.");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    is_up.store(true, Ordering::Relaxed);

    let played = tokio::select! {
        played = demo::play(&stack) => played,
        () = requests.next() => return stop(stack, requests).await,
    };
    if let Err(error) = played {
        stack.shut_down().await?;
        return Err(error.context("the demo did not come to its end; all is stopped"));
    }
    requests.next().await;
    stop(stack, requests).await
}

/// Stops in order, or at once when asked again.
async fn stop(stack: Stack, mut requests: StopRequests) -> anyhow::Result<ExitCode> {
    say("\nStopping (once more to stop at once)");
    tokio::select! {
        stopped = stack.shut_down() => stopped?,
        () = requests.next() => {}
    }
    say("Everything is stopped. The data is kept; `make reset` forgets it.");
    Ok(ExitCode::SUCCESS)
}

/// Says what happens to processes. While the stack starts, its progress and its error say enough.
fn notices(is_up: Arc<AtomicBool>) -> Listener {
    Arc::new(move |notice| match notice {
        Notice::Failed { name, why } => say(&format!("! {name}: {why}")),
        _ if !is_up.load(Ordering::Relaxed) => {}
        Notice::Started { name, pid } => say(&format!("! {name} runs again (process {pid})")),
        Notice::Died { name, how } => say(&format!("! {name} {how}; it is started again")),
    })
}

/// The ways to ask for the end: Ctrl-C, a polite kill, a closed terminal.
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
