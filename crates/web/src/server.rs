//! Listeners, and stopping them without dropping the requests they hold.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::{App, HttpServer, web};
use tokio::signal::unix::{SignalKind, signal};

use crate::{RequestEdge, edge};

/// How a listener is sized.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    pub workers: usize,
    pub connections_max: usize,
    /// How long requests under way may take to finish once the service stops. Below the platform's 25 s.
    pub drain: Duration,
}

impl ServeOptions {
    /// For callers from outside.
    pub const PUBLIC: Self = Self { workers: 2, connections_max: 10_000, drain: Duration::from_secs(20) };
    /// For peers and the platform.
    pub const INTERNAL: Self = Self { workers: 1, connections_max: 1_000, drain: Duration::from_secs(20) };
}

/// A running listener.
pub struct Listener {
    /// With the port that was taken, also when port 0 was asked for.
    pub address: SocketAddr,
    pub handle: ServerHandle,
    pub server: Server,
}

/// Binds and starts to listen; requests are served while [`Listener::server`] is awaited.
///
/// # Errors
/// When the address cannot be bound.
pub fn listen(
    address: SocketAddr,
    options: ServeOptions,
    request_edge: RequestEdge,
    routes: impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static,
) -> std::io::Result<Listener> {
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(request_edge.clone()))
            .wrap(from_fn(edge))
            .configure(routes.clone())
    })
    .workers(options.workers)
    .max_connections(options.connections_max)
    .client_request_timeout(Duration::from_secs(10))
    .client_disconnect_timeout(Duration::from_secs(2))
    .keep_alive(Duration::from_secs(75))
    .shutdown_timeout(options.drain.as_secs())
    .disable_signals()
    .bind(address)?;
    let address = server.addrs().first().copied().unwrap_or(address);
    let server = server.run();
    Ok(Listener { address, handle: server.handle(), server })
}

/// Waits for SIGTERM or SIGINT.
///
/// # Errors
/// When the process cannot listen for signals.
pub async fn stop_signal() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
