//! A service that has been put together.

use std::net::SocketAddr;

use messaging::Broker;
use web::{Listener, Tasks, Workers};

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
}

impl Running {
    /// Until SIGTERM or SIGINT, then to a stop that loses nothing.
    ///
    /// # Errors
    /// When a listener or a worker fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let outcome = web::run(self.listeners, self.tasks, self.workers).await;
        self.broker.close().await;
        outcome
    }

    /// Work under way; its `draining` ends streams.
    pub fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }
}
