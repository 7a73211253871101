//! One connection to the broker, which can be closed without the broker's cooperation.

use std::error::Error;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapin::tcp::RustlsConnector;
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{AsyncTcpStream, Connection, ConnectionProperties};
use settings::{Certificates, Secret};
use tokio::net::lookup_host;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout, timeout_at};

use crate::BrokerError;

/// The time limit for connecting, from the name lookup to the end of the handshake.
const CONNECT: Duration = Duration::from_secs(5);
/// The time limit for closing the connection.
const CLOSE: Duration = Duration::from_secs(2);
/// A peer that sends nothing for this long, in seconds, counts as disconnected.
const HEARTBEAT: u16 = 10;
/// In bytes. Each connection buffers 64 frames: the broker's default of 128 KiB would cost each service 16 MiB. Longer
/// messages use several frames.
const FRAME_MAX: u32 = 16 * 1024;

/// An open connection. Dropping it closes the socket.
pub(crate) struct Live {
    connection: Connection,
    line: Socket,
    marked_broken: Notify,
}

/// The socket of a connection, kept to close it: if the broker stops answering during the handshake, the connection
/// would otherwise keep its thread forever.
#[derive(Clone, Default)]
struct Socket(Arc<Mutex<Option<TcpStream>>>);

impl Socket {
    fn keep(&self, socket: &impl AsFd) -> io::Result<()> {
        if Arc::strong_count(&self.0) == 1 {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "the connection attempt was cancelled",
            ));
        }
        let socket = TcpStream::from(socket.as_fd().try_clone_to_owned()?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(socket);
        Ok(())
    }

    /// Releases the socket, because it is closed.
    fn forget(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The connector has a clone while the connection's thread runs. The first drop closes the socket.
        if let Some(socket) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // An error means that the other side closed it first.
            let _closed = socket.shutdown(Shutdown::Both);
        }
    }
}

/// The system's authorities are read at each connection, because they may change while a service runs. That takes
/// milliseconds, and so a thread of its own.
async fn rustls_connector(authorities: Option<&Certificates>) -> Result<RustlsConnector, BrokerError> {
    let unavailable = |error: &dyn Error| BrokerError::Unavailable(error.to_string());
    let config = match authorities {
        Some(authorities) => tls::certified_by(authorities.as_slice()),
        None => spawn_blocking(tls::certified_by_system).await.map_err(|error| unavailable(&error))?,
    };
    config.map(RustlsConnector::from).map_err(|error| unavailable(&error))
}

fn late() -> BrokerError {
    BrokerError::Unavailable("timed out while connecting".into())
}

impl Live {
    /// Connects within 5 s.
    pub(crate) async fn connect(
        url: &Secret,
        authorities: Option<&Certificates>,
        name: &str,
    ) -> Result<Self, BrokerError> {
        let deadline = Instant::now() + CONNECT;
        // The parser's own error would show the URL with its password.
        let mut uri: AMQPUri = url
            .expose()
            .parse()
            .map_err(|_| BrokerError::Unavailable("the broker's URL is invalid".into()))?;
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        uri.query.frame_max.get_or_insert(FRAME_MAX);
        let tls = match uri.scheme {
            AMQPScheme::AMQP => None,
            AMQPScheme::AMQPS => Some(rustls_connector(authorities).await?),
        };
        let lookup =
            timeout_at(deadline, lookup_host((uri.authority.host.as_str(), uri.authority.port))).await;
        let addresses: Vec<SocketAddr> = match lookup {
            Ok(found) => found.map_err(|error| BrokerError::Unavailable(error.to_string()))?.collect(),
            Err(_) => return Err(late()),
        };
        Self::connect_to_one_of(&addresses, deadline, (&uri, tls.as_ref(), name)).await
    }

    /// Connects to the first address that answers. The addresses share the time that is left: a silent one must not use it up.
    async fn connect_to_one_of(
        addresses: &[SocketAddr],
        deadline: Instant,
        broker: (&AMQPUri, Option<&RustlsConnector>, &str),
    ) -> Result<Self, BrokerError> {
        let mut failure = BrokerError::Unavailable("the broker's host has no address".into());
        for (tried, address) in addresses.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
            let error = match timeout(share, Self::connect_to(*address, broker)).await {
                Ok(Ok(live)) => return Ok(live),
                Ok(Err(error)) => error,
                Err(_) => late(),
            };
            tracing::debug!(%address, %error, "broker address not used");
            // A refusal by one of the addresses counts.
            if failure.is_outage() {
                failure = error;
            }
        }
        Err(failure)
    }

    async fn connect_to(
        address: SocketAddr,
        (uri, tls, name): (&AMQPUri, Option<&RustlsConnector>, &str),
    ) -> Result<Self, BrokerError> {
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let line = Socket::default();
        let connecting = Connection::connector(
            uri.clone(),
            lapin::runtime::default_runtime()?,
            {
                let (line, tls) = (line.clone(), tls.cloned());
                async move |uri: AMQPUri, runtime| {
                    let stream = AsyncTcpStream::connect(&runtime, [address].as_slice()).await?;
                    if let AsyncTcpStream::Plain(socket) = &stream {
                        line.keep(socket.get_ref())?;
                    }
                    match &tls {
                        None => Ok(stream),
                        Some(tls) => Ok(stream.into_rustls(tls, &uri.authority.host).await?),
                    }
                }
            },
            properties,
        );
        let connection = connecting.await.map_err(|error| BrokerError::of_attempt(&error))?;
        Ok(Self { connection, line, marked_broken: Notify::new() })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Marks the connection as broken because of a timeout; it is replaced.
    pub(crate) fn mark_broken(&self) {
        self.marked_broken.notify_one();
    }

    pub(crate) async fn marked_broken(&self) {
        self.marked_broken.notified().await;
    }

    /// Closes the connection, with a time limit.
    pub(crate) async fn close(&self) {
        match timeout(CLOSE, self.connection.close(200, "going away".into())).await {
            Ok(Ok(())) => self.line.forget(),
            Ok(Err(_)) | Err(_) => tracing::debug!("timed out closing the broker connection"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_address_without_a_response_leaves_time_for_the_next() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let next = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = [&silent, &next].map(|listener| listener.local_addr().unwrap());
        let uri: AMQPUri = "amqp://u:p@localhost/v".parse().unwrap();
        let deadline = Instant::now() + Duration::from_secs(1);
        let greeted = async {
            let (mut client, _) = next.accept().await.unwrap();
            let mut greeting = [0; 4];
            client.read_exact(&mut greeting).await.unwrap();
            greeting
        };
        tokio::select! {
            greeting = greeted => assert_eq!(&greeting, b"AMQP"),
            connected = Live::connect_to_one_of(&addresses, deadline, (&uri, None, "test")) => {
                panic!("the next address was not tried: {:?}", connected.map(drop));
            }
        }
    }
}
