//! The life of a service: listeners and workers run until a signal, then stop in an order that loses nothing.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{Listener, RequestEdge, ServeOptions, StopSignal, Tasks, listen};

/// The time for requests and the tasks that outlive them after the stop signal: the listeners' drain, and some time for
/// tasks whose client disconnected. The next steps have their own limits: workers 4 s, broker 2 s, traces 1 s. Together
/// that is 24 s of the platform's 25 s.
const REQUESTS_DRAIN: Duration = Duration::from_secs(17);
/// The time for workers to finish their current work.
const WORKERS_DRAIN: Duration = Duration::from_secs(4);

/// The listeners of a service.
#[derive(Default)]
pub struct Servers {
    stop: CancellationToken,
    bound: Vec<Listener>,
    serving: JoinSet<std::io::Result<()>>,
}

impl Servers {
    /// Binds an address, which [`Servers::start`] serves. Returns it with its actual port.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        options: ServeOptions,
        edge: RequestEdge,
        routes: impl Fn(&mut ServiceConfig) + Send + 'static,
    ) -> std::io::Result<SocketAddr> {
        Ok(self.add(listen(address, options, edge, routes)?))
    }

    /// As [`Servers::listen`], with TLS only.
    ///
    /// # Errors
    /// As [`Servers::listen`].
    pub fn listen_with_tls(
        &mut self,
        address: SocketAddr,
        options: ServeOptions,
        edge: RequestEdge,
        tls: Arc<ServerConfig>,
        routes: impl Fn(&mut ServiceConfig) + Send + 'static,
    ) -> std::io::Result<SocketAddr> {
        Ok(self.add(listen(address, options, edge, routes)?.with_tls(tls)))
    }

    fn add(&mut self, listener: Listener) -> SocketAddr {
        let address = listener.address;
        self.bound.push(listener);
        address
    }

    /// Serves the bound addresses on this thread, within its [`tokio::task::LocalSet`].
    pub fn start(&mut self) {
        for listener in self.bound.drain(..) {
            self.serving.spawn_local(listener.serve(self.stop.clone()));
        }
    }

    /// Returns when a listener ends, which is a failure before the stop.
    pub async fn first_to_fail(&mut self) -> anyhow::Error {
        let ended = self.serving.join_next().await;
        anyhow::anyhow!("a listener stopped unexpectedly: {ended:?}")
    }

    async fn finish(mut self) {
        self.stop.cancel();
        while self.serving.join_next().await.is_some() {}
    }
}

/// Background work: relays, consumers, senders, recovery.
#[derive(Default)]
pub struct Workers {
    stop: CancellationToken,
    running: JoinSet<&'static str>,
}

impl Workers {
    /// Starts a worker. It must run until its token is cancelled, and return soon afterwards.
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

    /// Returns when a worker stops early, which is a failure. Pending while all workers run.
    async fn first_to_fail(&mut self) -> anyhow::Error {
        match self.running.join_next().await {
            Some(Ok(name)) => anyhow::anyhow!("the worker {name} stopped unexpectedly"),
            Some(Err(error)) => anyhow::Error::new(error).context("a worker failed"),
            None => std::future::pending().await,
        }
    }

    async fn finish(mut self) {
        self.stop.cancel();
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(WORKERS_DRAIN, all).await.is_err() {
            tracing::warn!("workers did not stop in time; their work resumes after the next start");
        }
    }
}

/// Runs until the signal. Then listeners stop accepting and answer their requests, tasks of disconnected clients
/// finish, and the workers stop last, so that they still forward the writes of those requests.
///
/// # Errors
/// When a listener or a worker fails. The process must exit, so that the platform restarts it.
pub async fn run(
    mut servers: Servers,
    tasks: Tasks,
    mut workers: Workers,
    mut stop: StopSignal,
) -> anyhow::Result<()> {
    servers.start();
    let outcome = tokio::select! {
        () = stop.received() => Ok(()),
        failed = servers.first_to_fail() => Err(failed),
        failed = workers.first_to_fail() => Err(failed),
    };
    tracing::info!("stopping");
    let drained = Instant::now() + REQUESTS_DRAIN;
    tasks.draining().cancel();
    servers.finish().await;
    tasks.finish_until(drained).await;
    workers.finish().await;
    tracing::info!("stopped");
    outcome
}
