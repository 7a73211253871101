//! The whole of Waybill on this machine, with the main job played on it, until Ctrl-C.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use demo::{Demonstration, play};
use local_stack::{Listener, Notice, Stack, StackOptions, say};
use tokio::signal::unix::{Signal, SignalKind, signal};

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
        played = play(&stack, &say) => played,
        () = requests.next() => return stop(stack, None, requests).await,
    };
    let demonstration = match played {
        Ok(demonstration) => demonstration,
        Err(error) => {
            stack.shut_down().await?;
            return Err(error.context("the main job did not come to its end; all is stopped"));
        }
    };
    requests.next().await;
    stop(stack, Some(demonstration), requests).await
}

/// Stops in order, or at once when asked again.
async fn stop(
    stack: Stack,
    demonstration: Option<Demonstration>,
    mut requests: StopRequests,
) -> anyhow::Result<ExitCode> {
    say("\nStopping (once more to stop at once)");
    let all = async {
        stack.shut_down().await?;
        match demonstration {
            // Last, so that webhooks still under way are answered.
            Some(demonstration) => demonstration.stop().await,
            None => Ok(()),
        }
    };
    tokio::select! {
        stopped = all => stopped?,
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
