//! A running service.

use std::net::SocketAddr;
use std::time::Duration;

use messaging::Broker;
use web::{Servers, StopSignal, Tasks, Workers};

/// The time limit for closing the broker connections. `web::run` lists the time limits of the other steps of a stop.
const BROKER_CLOSE: Duration = Duration::from_secs(2);

/// A listening service. It works while [`Running::run`] is awaited. Dropping it stops it at once.
pub struct Running {
    /// For public callers; order-api and portal-api have this listener.
    pub public: Option<SocketAddr>,
    /// For the operator's staff; portal-api may have this listener.
    pub operator: Option<SocketAddr>,
    /// For the other services.
    pub internal: SocketAddr,
    /// The same with TLS, if it is configured.
    pub internal_tls: Option<SocketAddr>,
    /// For the platform.
    pub management: SocketAddr,
    pub(crate) servers: Servers,
    pub(crate) tasks: Tasks,
    pub(crate) workers: Workers,
    pub(crate) broker: Broker,
    pub(crate) stop: StopSignal,
}

impl Running {
    /// Runs until SIGTERM or SIGINT, then stops without losing work. Requests are served on this thread, within its
    /// [`tokio::task::LocalSet`].
    ///
    /// # Errors
    /// When a listener or a worker fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let addresses =
            [self.public, self.operator, Some(self.internal), self.internal_tls, Some(self.management)];
        for address in addresses.iter().flatten() {
            tracing::info!(%address, "listening");
        }
        let outcome = web::run(self.servers, self.tasks, self.workers, self.stop).await;
        if tokio::time::timeout(BROKER_CLOSE, self.broker.close()).await.is_err() {
            tracing::warn!("timed out closing the broker connection");
        }
        outcome
    }

    /// The tasks that outlive their clients. Their `draining` token ends streams.
    pub fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }
}
