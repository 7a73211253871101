//! Listeners that stop without dropping requests.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, map_config};
use actix_web::dev::AppConfig;
use actix_web::middleware::from_fn;
use actix_web::{App, Error, web};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

use crate::http_errors::WithErrorBodies;
use crate::write_deadline::WithWriteDeadline;
use crate::{RequestEdge, edge};

type Plain = WithWriteDeadline<TcpStream>;
/// Boxed, so that connections without TLS stay small.
type Stream = Either<Plain, Box<TlsStream<Plain>>>;
type Connection = (WithErrorBodies<Stream>, Option<SocketAddr>);

/// The number of connections that can wait to be accepted.
const BACKLOG: u32 = 1024;
/// The pause after the system refused a connection, for instance because the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);
/// The time for the handshake of TLS.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(5);

/// The size of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
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
    pub const PUBLIC: Self =
        Self { connections_max: 20_000, drain: Duration::from_secs(14), write_patience: WRITE_PATIENCE };
    /// For other services, the platform and the operator's staff.
    pub const INTERNAL: Self = Self { connections_max: 1_000, ..Self::PUBLIC };
}

/// A bound address. Connections wait until [`Listener::serve`] is awaited.
pub struct Listener {
    /// The bound address, with the actual port when port 0 was requested.
    pub address: SocketAddr,
    socket: std::net::TcpListener,
    options: ServeOptions,
    edge: RequestEdge,
    routes: Box<dyn Fn(&mut web::ServiceConfig) + Send>,
    tls: Option<TlsAcceptor>,
}

/// Binds and listens.
///
/// # Errors
/// When the address cannot be bound.
pub fn listen(
    address: SocketAddr,
    options: ServeOptions,
    edge: RequestEdge,
    routes: impl Fn(&mut web::ServiceConfig) + Send + 'static,
) -> io::Result<Listener> {
    let socket = bind(address)?;
    let address = socket.local_addr()?;
    Ok(Listener { address, socket, options, edge, routes: Box::new(routes), tls: None })
}

impl Listener {
    /// Accepts connections with TLS only.
    #[must_use]
    pub fn with_tls(self, tls: Arc<ServerConfig>) -> Self {
        Self { tls: Some(tls.into()), ..self }
    }

    /// Serves requests until `stop`, then closes the address, and returns when all requests are answered or the time
    /// for it has passed. Must run in a [`tokio::task::LocalSet`].
    ///
    /// `actix_web::HttpServer` has threads of its own, which would have to wake those of the database and the broker
    /// several times per request.
    ///
    /// # Errors
    /// When the address cannot be served.
    pub async fn serve(self, stop: CancellationToken) -> io::Result<()> {
        let Self { address, socket, options, edge, routes, tls } = self;
        let socket = TcpListener::from_std(socket)?;
        let http = Rc::new(http(address, edge.clone(), routes, stop.clone()).await?);
        let serve = |connection: TcpStream| {
            let peer = connection.peer_addr().ok();
            let (http, edge, tls) = (http.clone(), edge.clone(), tls.clone());
            async move {
                match secured(connection, options.write_patience, tls).await {
                    Ok(stream) => drop(http.call((WithErrorBodies::new(stream, edge), peer)).await),
                    Err(error) => tracing::debug!(%error, "TLS handshake failed"),
                }
            }
        };
        let mut connections = accept_until(stop, socket, options.connections_max, serve).await;
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(options.drain, all).await.is_err() {
            tracing::warn!(%address, "requests did not end in time");
        }
        Ok(())
    }
}

/// The connection after its handshake, if the listener has TLS.
async fn secured(
    connection: TcpStream,
    write_patience: Duration,
    tls: Option<TlsAcceptor>,
) -> io::Result<Stream> {
    let Some(tls) = tls else {
        return Ok(Either::Left(WithWriteDeadline::new(connection, write_patience)));
    };
    // Otherwise the first response waits until the client has confirmed the end of the handshake.
    connection.set_nodelay(true)?;
    let handshake = Box::pin(tls.accept(WithWriteDeadline::new(connection, write_patience)));
    let stream = tokio::time::timeout(HANDSHAKE_PATIENCE, handshake).await??;
    Ok(Either::Right(Box::new(stream)))
}

/// The service of each connection, from the first request to the last response.
async fn http(
    address: SocketAddr,
    request_edge: RequestEdge,
    routes: Box<dyn Fn(&mut web::ServiceConfig) + Send>,
    stop: CancellationToken,
) -> io::Result<impl Service<Connection, Future: 'static>> {
    let app = App::new()
        .app_data(web::Data::new(request_edge))
        .wrap(from_fn(edge))
        .configure(routes)
        .into_factory()
        .map_err(|error: Error| error.error_response());
    HttpService::build()
        // Ends idle connections when the service stops, and busy ones after their response.
        .graceful_shutdown_signal(move || stop.clone().cancelled_owned())
        .keep_alive(Duration::from_secs(75))
        .client_request_timeout(Duration::from_secs(10))
        .client_disconnect_timeout(Duration::from_secs(2))
        .local_addr(address)
        .h1(map_config(app, |_| AppConfig::default()))
        .new_service(())
        .await
        .map_err(|()| io::Error::other("the routes cannot be built"))
}

fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait until the connections of the previous process time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// Returns the connections that are still open, and closes the address.
async fn accept_until<F: Future<Output: 'static> + 'static>(
    stop: CancellationToken,
    socket: TcpListener,
    most: usize,
    serve: impl Fn(TcpStream) -> F,
) -> JoinSet<F::Output> {
    let mut connections = JoinSet::new();
    // Kept while connections end, or its pause would end with each of them.
    let mut accepting = pin!(accept(&socket));
    loop {
        let has_room = connections.len() < most;
        tokio::select! {
            () = stop.cancelled() => return connections,
            Some(_) = connections.join_next() => {}
            accepted = &mut accepting, if has_room => {
                accepting.set(accept(&socket));
                connections.spawn_local(serve(accepted));
            }
        }
    }
}

async fn accept(socket: &TcpListener) -> TcpStream {
    loop {
        match socket.accept().await {
            Ok((connection, _)) => return connection,
            Err(error) if is_of_the_peer(&error) => {}
            Err(error) => {
                tracing::warn!("connections cannot be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The peer left before its connection was accepted.
fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// SIGTERM and SIGINT. Listens from construction, so that an early signal is not lost.
pub struct StopSignal {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignal {
    /// # Errors
    /// When the process cannot listen for signals.
    pub fn listen() -> io::Result<Self> {
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
