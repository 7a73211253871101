//! One connection to the broker, and a way to end it that does not depend on the broker's cooperation.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapin::tcp::RustlsConnector;
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{AsyncTcpStream, Connection, ConnectionProperties};
use settings::{Certificates, Secret};
use tokio::net::lookup_host;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::BrokerError;

/// How long connecting may take, from the look-up of the name to the end of the handshake.
const CONNECT: Duration = Duration::from_secs(5);
/// How long opening the socket may take.
const OPEN: Duration = Duration::from_secs(3);
/// How long taking leave may take.
const CLOSE: Duration = Duration::from_secs(2);
/// A peer that says nothing for this long, in seconds, is gone.
const HEARTBEAT: u16 = 10;
/// In bytes. Each connection keeps buffers of 64 frames: the broker's own 128 KiB would cost each service 16 MiB. What is
/// longer travels in several.
const FRAME_MAX: u32 = 16 * 1024;

/// A connection that was made. Dropping it cuts the line.
pub(crate) struct Live {
    connection: Connection,
    line: Line,
    doubted: Notify,
}

/// The socket under a connection, kept so that it can be cut: a connection whose broker stopped answering in the
/// middle of a handshake would otherwise keep its thread for ever.
#[derive(Clone, Default)]
struct Line(Arc<Mutex<Option<TcpStream>>>);

impl Line {
    fn keep(&self, socket: &impl AsFd) -> io::Result<()> {
        if Arc::strong_count(&self.0) == 1 {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "nobody waits for the connection"));
        }
        let socket = TcpStream::from(socket.as_fd().try_clone_to_owned()?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(socket);
        Ok(())
    }

    /// There is nothing left to cut.
    fn forget(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The connector keeps a clone for as long as the connection's thread runs; whoever goes first cuts the line.
        if let Some(socket) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // An error says that the other side was faster.
            let _closed = socket.shutdown(Shutdown::Both);
        }
    }
}

/// Read at each connection: what the system trusts may change while a service runs.
fn whom_to_trust(authorities: Option<&Certificates>) -> Result<RustlsConnector, BrokerError> {
    let config = match authorities {
        Some(authorities) => tls::certified_by(authorities.as_slice()),
        None => tls::certified_by_system(),
    };
    config.map(RustlsConnector::from).map_err(|error| BrokerError::Unavailable(error.to_string()))
}

impl Live {
    /// Connects within 5 s.
    pub(crate) async fn connect(
        url: &Secret,
        authorities: Option<&Certificates>,
        name: &str,
    ) -> Result<Self, BrokerError> {
        // The parser's own error would show the URL, and with it the password.
        let mut uri: AMQPUri = url
            .expose()
            .parse()
            .map_err(|_| BrokerError::Unavailable("the broker's URL is malformed".into()))?;
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        uri.query.frame_max.get_or_insert(FRAME_MAX);
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let tls = match uri.scheme {
            AMQPScheme::AMQP => None,
            AMQPScheme::AMQPS => Some(whom_to_trust(authorities)?),
        };
        let line = Line::default();
        let connecting = Connection::connector(
            uri,
            lapin::runtime::default_runtime()?,
            {
                let line = line.clone();
                async move |uri: AMQPUri, runtime| {
                    let host = uri.authority.host.as_str();
                    let deadline = io::Error::from(io::ErrorKind::TimedOut);
                    let addresses = lookup_host((host, uri.authority.port)).await?.collect::<Vec<_>>();
                    let stream = timeout(OPEN, AsyncTcpStream::connect(&runtime, addresses.as_slice()));
                    let stream = stream.await.unwrap_or(Err(deadline))?;
                    if let AsyncTcpStream::Plain(socket) = &stream {
                        line.keep(socket.get_ref())?;
                    }
                    match &tls {
                        None => Ok(stream),
                        Some(tls) => Ok(stream.into_rustls(tls, host).await?),
                    }
                }
            },
            properties,
        );
        match timeout(CONNECT, connecting).await {
            Ok(connection) => Ok(Self { connection: connection?, line, doubted: Notify::new() }),
            Err(_) => Err(BrokerError::Unavailable("no answer while connecting".into())),
        }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Something on this connection stayed without an answer: it is made anew.
    pub(crate) fn doubt(&self) {
        self.doubted.notify_one();
    }

    pub(crate) async fn doubted(&self) {
        self.doubted.notified().await;
    }

    /// Takes leave, bounded.
    pub(crate) async fn close(&self) {
        match timeout(CLOSE, self.connection.close(200, "going away".into())).await {
            Ok(Ok(())) => self.line.forget(),
            Ok(Err(_)) | Err(_) => tracing::debug!("the broker did not take our leave"),
        }
    }
}
