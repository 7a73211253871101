//! A service that has been put together.

use std::net::SocketAddr;
use std::time::Duration;

use messaging::Broker;
use web::{Listener, StopSignal, Tasks, Workers};

/// For taking leave of a broker that does not answer any more; see `web::run` for what the other steps of a stop may take.
const BROKER_CLOSE: Duration = Duration::from_secs(2);

/// A service that listens; it works while [`Running::run`] is awaited. Dropped, it ends wherever it is.
pub struct Running {
    /// For callers from outside; order-api and portal-api have it.
    pub public: Option<SocketAddr>,
    /// For the other services.
    pub internal: SocketAddr,
    /// For the platform.
    pub management: SocketAddr,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) tasks: Tasks,
    pub(crate) workers: Workers,
    pub(crate) broker: Broker,
    pub(crate) stop: StopSignal,
}

impl Running {
    /// Until SIGTERM or SIGINT, then to a stop that loses nothing.
    ///
    /// # Errors
    /// When a listener or a worker fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let outcome = web::run(self.listeners, self.tasks, self.workers, self.stop).await;
        if tokio::time::timeout(BROKER_CLOSE, self.broker.close()).await.is_err() {
            tracing::warn!("the broker was left without a word");
        }
        outcome
    }

    /// Work under way; its `draining` ends streams.
    pub fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }
}
