//! Listeners that stop without dropping requests.

use std::net::SocketAddr;
use std::time::Duration;

use actix_http::HttpService;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::{AppConfig, Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use tokio::net::{TcpSocket, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::http_errors::WithErrorBodies;
use crate::write_deadline::WithWriteDeadline;
use crate::{RequestEdge, edge};

/// The number of connections that can wait to be accepted.
const BACKLOG: u32 = 1024;

/// The size of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    pub workers: usize,
    pub connections_max: usize,
    /// The time for requests in flight after the stop signal. `run` lists all parts of the platform's 25 s.
    pub drain: Duration,
    /// A connection whose peer reads nothing for this long is closed.
    pub write_patience: Duration,
}

/// Longer than a network is usually interrupted.
const WRITE_PATIENCE: Duration = Duration::from_secs(60);

impl ServeOptions {
    /// For callers outside the platform.
    pub const PUBLIC: Self = Self {
        workers: 2,
        connections_max: 10_000,
        drain: Duration::from_secs(14),
        write_patience: WRITE_PATIENCE,
    };
    /// For other services, the platform and the operator's staff.
    pub const INTERNAL: Self = Self { workers: 1, connections_max: 1_000, ..Self::PUBLIC };
}

/// A running listener.
pub struct Listener {
    /// The bound address, with the actual port when port 0 was requested.
    pub address: SocketAddr,
    pub handle: ServerHandle,
    pub server: Server,
}

/// Binds and listens. Requests are served while [`Listener::server`] is awaited.
///
/// Combines the parts of `actix_web::HttpServer`, which cannot wrap the connection in [`WithErrorBodies`].
///
/// # Errors
/// When the address cannot be bound.
pub fn listen(
    address: SocketAddr,
    options: ServeOptions,
    request_edge: RequestEdge,
    routes: impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static,
) -> std::io::Result<Listener> {
    let socket = bind(address)?;
    let address = socket.local_addr()?;
    let builder = Server::build()
        .workers(options.workers)
        .max_concurrent_connections(options.connections_max)
        .shutdown_timeout(options.drain.as_secs())
        .disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let builder = builder.listen("http", socket, move || {
        let app = App::new()
            .app_data(web::Data::new(request_edge.clone()))
            .wrap(from_fn(edge))
            .configure(routes.clone())
            .into_factory()
            .map_err(|error: Error| error.error_response());
        let stopping = stopping.clone();
        let http = HttpService::build()
            // Ends idle connections when the service stops, and busy ones after their response.
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(Duration::from_secs(75))
            .client_request_timeout(Duration::from_secs(10))
            .client_disconnect_timeout(Duration::from_secs(2))
            .local_addr(address)
            .h1(map_config(app, |_| AppConfig::default()));
        let edge = request_edge.clone();
        fn_service(move |connection: TcpStream| {
            let edge = edge.clone();
            async move {
                let peer = connection.peer_addr().ok();
                let connection = WithWriteDeadline::new(connection, options.write_patience);
                Ok((WithErrorBodies::new(connection, edge), peer))
            }
        })
        .and_then(http)
    })?;
    let server = builder.run();
    Ok(Listener { address, handle: server.handle(), server })
}

fn bind(address: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait until the connections of the previous process time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// SIGTERM and SIGINT. Listens from construction, so that an early signal is not lost.
pub struct StopSignal {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignal {
    /// # Errors
    /// When the process cannot listen for signals.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for either.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
