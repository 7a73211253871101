//! The HTTP server around the receiver, and the worker beside it.

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
/// How long webhooks under way may take to be answered when the server stops.
const STOP_TIMEOUT_SECONDS: u64 = 5;

/// A running webhook receiver. It runs until [`WebhookServer::stop`].
pub struct WebhookServer {
    server: actix_web::dev::ServerHandle,
    serving: JoinHandle<std::io::Result<()>>,
    worker: JoinHandle<()>,
    stopping: CancellationToken,
}

impl Shop {
    /// Receives webhooks on `address` (port 0 takes a free one), at [`crate::WEBHOOK_PATH`]. Returns the address
    /// listened on. Webhooks that were stored but not worked off before a restart are worked off now.
    ///
    /// # Errors
    /// When the address cannot be listened on.
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
    /// Answers what is under way, then stops. What is stored and not yet worked off stays stored.
    ///
    /// # Errors
    /// When the server or the worker had ended by itself with an error.
    pub async fn stop(self) -> Result<(), ShopError> {
        self.server.stop(true).await;
        self.serving.await??;
        self.stopping.cancel();
        Ok(self.worker.await?)
    }
}
