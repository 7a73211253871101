//! The HTTP server of the receiver, and the worker.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{App, HttpServer};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::receiver::{Receiver, configure};
use super::worker;
use crate::{Shop, ShopError};

const SERVER_THREADS: usize = 2;
const CONNECTIONS_MAX: usize = 256;
const HEADERS_TIMEOUT: Duration = Duration::from_secs(5);
/// The time for webhooks in flight when the server stops.
const STOP_TIMEOUT_SECONDS: u64 = 5;

/// A running webhook receiver. It runs until [`WebhookServer::stop`].
pub struct WebhookServer {
    server: actix_web::dev::ServerHandle,
    serving: JoinHandle<std::io::Result<()>>,
    worker: JoinHandle<()>,
    stopping: CancellationToken,
}

impl Shop {
    /// Receives webhooks on `address` (port 0 picks a free port), at [`crate::WEBHOOK_PATH`]. Returns the bound
    /// address. Also processes the webhooks that were stored before a restart.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn serve_webhooks(
        &self,
        address: SocketAddr,
    ) -> Result<(SocketAddr, WebhookServer), ShopError> {
        let notifier = Arc::new(Notify::new());
        let receiver =
            Receiver { shop: self.clone(), notifier: notifier.clone(), runtime: Handle::current() };
        let server = HttpServer::new(move || App::new().configure(configure(receiver.clone())))
            .workers(SERVER_THREADS)
            .max_connections(CONNECTIONS_MAX)
            .client_request_timeout(HEADERS_TIMEOUT)
            .shutdown_timeout(STOP_TIMEOUT_SECONDS)
            .disable_signals()
            .bind(address)?;
        let address = server.addrs().first().copied().unwrap_or(address);
        let server = server.run();
        let stopping = CancellationToken::new();
        let worker = tokio::spawn(worker::run(self.clone(), notifier, stopping.clone()));
        let handle = server.handle();
        Ok((address, WebhookServer { server: handle, serving: tokio::spawn(server), worker, stopping }))
    }
}

impl WebhookServer {
    /// Answers the requests in flight, then stops. Unprocessed webhooks stay stored.
    ///
    /// # Errors
    /// When the server or the worker had failed.
    pub async fn stop(self) -> Result<(), ShopError> {
        self.server.stop(true).await;
        self.serving.await??;
        self.stopping.cancel();
        Ok(self.worker.await?)
    }
}
