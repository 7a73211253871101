//! The life of a service: listeners and background workers run until a signal, then end in an order that loses nothing.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{Listener, StopSignal, Tasks};

/// How long requests and what outlives them may take in all once the service stops: the listeners' drain, the second until they
/// notice that it is over, and a moment for work whose client was cut off. What follows has its own bounds: the workers 4 s,
/// the broker 2 s and traces 1 s. That makes 24 s of the 25 s that the platform gives.
const REQUESTS_DRAIN: Duration = Duration::from_secs(17);
/// Workers get this long to finish what they hold.
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

/// Runs until the signal. Then listeners stop accepting and answer what they hold, work that outlived its
/// client ends, and last the workers stop, so that what those requests wrote is still passed on.
///
/// # Errors
/// When a listener or a worker fails: the process must end, so that the platform starts it anew.
pub async fn run(
    listeners: Vec<Listener>,
    tasks: Tasks,
    mut workers: Workers,
    mut stop: StopSignal,
) -> anyhow::Result<()> {
    let mut servers = JoinSet::new();
    let mut handles = Vec::with_capacity(listeners.len());
    for listener in listeners {
        tracing::info!(address = %listener.address, "listening");
        handles.push(listener.handle);
        servers.spawn(listener.server);
    }
    let outcome = tokio::select! {
        () = stop.received() => Ok(()),
        ended = servers.join_next() => Err(anyhow::anyhow!("a listener stopped by itself: {ended:?}")),
        failed = workers.first_to_fail() => Err(failed),
    };
    tracing::info!("stopping");
    let drained = Instant::now() + REQUESTS_DRAIN;
    tasks.draining().cancel();
    let graceful = true;
    for stopped in handles.iter().map(|handle| handle.stop(graceful)).collect::<Vec<_>>() {
        stopped.await;
    }
    tasks.finish_until(drained).await;
    workers.finish().await;
    tracing::info!("stopped");
    outcome
}
