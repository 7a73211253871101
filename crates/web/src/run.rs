//! The life of a service: listeners and background workers run until a signal, then end in an order that loses nothing.

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{Listener, Tasks, stop_signal};

/// Workers get this long to finish what they hold; with the listeners' drain it stays below the platform's 25 s.
const WORKERS_DRAIN: Duration = Duration::from_secs(4);

/// Background work: relays, consumers, senders, recovery.
#[derive(Default)]
pub struct Workers {
    stop: CancellationToken,
    running: JoinSet<&'static str>,
}

impl Workers {
    /// Starts a worker, which is expected to run until its token is cancelled and to return soon after.
    pub fn start<F>(&mut self, name: &'static str, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let work = work(self.stop.clone()).instrument(tracing::info_span!("worker", worker = name));
        self.running.spawn(async move {
            work.await;
            name
        });
    }

    /// Ends with the first worker that stops by itself, which none should. Never ends while all run.
    async fn first_to_fail(&mut self) -> anyhow::Error {
        match self.running.join_next().await {
            Some(Ok(name)) => anyhow::anyhow!("the worker {name} stopped by itself"),
            Some(Err(error)) => anyhow::Error::new(error).context("a worker failed"),
            None => std::future::pending().await,
        }
    }

    async fn finish(mut self) {
        self.stop.cancel();
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(WORKERS_DRAIN, all).await.is_err() {
            tracing::warn!(
                "some workers did not end in time; what they held is taken up again after the start"
            );
        }
    }
}

/// Runs until SIGTERM or SIGINT. Then listeners stop accepting and answer what they hold, work that outlived its
/// client ends, and last the workers stop, so that what those requests wrote is still passed on.
///
/// # Errors
/// When a listener or a worker fails: the process must end, so that the platform starts it anew.
pub async fn run(listeners: Vec<Listener>, tasks: Tasks, mut workers: Workers) -> anyhow::Result<()> {
    let mut servers = JoinSet::new();
    let mut handles = Vec::with_capacity(listeners.len());
    for listener in listeners {
        tracing::info!(address = %listener.address, "listening");
        handles.push(listener.handle);
        servers.spawn(listener.server);
    }
    let outcome = tokio::select! {
        signal = stop_signal() => signal.context("signals cannot be received"),
        ended = servers.join_next() => Err(anyhow::anyhow!("a listener stopped by itself: {ended:?}")),
        failed = workers.first_to_fail() => Err(failed),
    };
    tracing::info!("stopping");
    tasks.draining().cancel();
    let graceful = true;
    for stopped in handles.iter().map(|handle| handle.stop(graceful)).collect::<Vec<_>>() {
        stopped.await;
    }
    tasks.finish(WORKERS_DRAIN).await;
    workers.finish().await;
    tracing::info!("stopped");
    outcome
}
