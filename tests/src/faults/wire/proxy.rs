//! A proxy on one link: its address, its current behaviour, and the moment that it waits for.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use local_stack::{Link, Part};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::HELD_MAX;
use super::amqp::Amqp;
use super::http::Http;
use super::moment::{Instant, Moment};
use super::postgres::Postgres;
use super::pump;

/// How a proxy treats traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behaviour {
    pub(super) delay: Duration,
    /// Drops everything without closing connections, as if the other end lost its power.
    pub(super) is_silent: bool,
    /// Incremented to cut open connections.
    pub(super) cuts: u64,
}

/// What happens to a stopped message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    On,
    /// Its connection is closed, in both directions.
    Cut,
}

/// An awaited moment. The waiting test decides how the message continues.
pub(crate) struct Arm {
    met: oneshot::Receiver<oneshot::Sender<Go>>,
}

impl Arm {
    /// Waits for the moment; `None` when it does not come in time.
    pub(crate) async fn met(self, limit: Duration) -> Option<oneshot::Sender<Go>> {
        timeout(limit, self.met).await.ok()?.ok()
    }
}

struct Armed {
    moment: Moment,
    instant: Instant,
    tell: oneshot::Sender<oneshot::Sender<Go>>,
}

/// A proxy. Dropping it closes its connections.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<State>,
    accepting: AbortHandle,
}

pub(super) struct State {
    behaviour: watch::Sender<Behaviour>,
    armed: Mutex<Option<Armed>>,
}

impl Proxy {
    /// Listens and forwards to the port.
    pub(super) fn open(link: Link, port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let through = listener.local_addr()?.port();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let state = Arc::new(State { behaviour: watch::Sender::default(), armed: Mutex::new(None) });
        let accepting = tokio::spawn(accept(listener, link, port, Arc::clone(&state))).abort_handle();
        Ok(Self { port: through, state, accepting })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Waits for this moment from now on, and for no other.
    pub(crate) fn arm(&self, moment: Moment, instant: Instant) -> Arm {
        let (tell, met) = oneshot::channel();
        *self.state.armed.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Armed { moment, instant, tell });
        Arm { met }
    }

    /// Closes every connection at once. New connections are accepted.
    pub(crate) fn cut(&self) {
        self.state.behaviour.send_modify(|behaviour| behaviour.cuts += 1);
    }

    /// Drops all data in both directions from now on.
    pub(crate) fn fall_silent(&self) {
        self.state.behaviour.send_modify(|behaviour| behaviour.is_silent = true);
    }

    pub(crate) fn slow_down(&self, delay: Duration) {
        self.state.behaviour.send_modify(|behaviour| behaviour.delay = delay);
    }

    /// Restores normal traffic. Cuts connections that lost data.
    pub(crate) fn heal(&self) {
        *self.state.armed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.state.behaviour.send_modify(|behaviour| {
            behaviour.delay = Duration::ZERO;
            behaviour.cuts += u64::from(std::mem::take(&mut behaviour.is_silent));
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

impl State {
    pub(super) fn behaviour(&self) -> watch::Receiver<Behaviour> {
        self.behaviour.subscribe()
    }

    /// Whether a test waits for this moment.
    pub(super) fn is_awaited(&self, moment: Moment, instant: Instant) -> bool {
        let armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        armed.as_ref().is_some_and(|armed| moment.is(armed.moment) && armed.instant == instant)
    }

    /// Reports the moment to the waiting test, and waits for its decision.
    pub(super) async fn meet(&self, moment: Moment, instant: Instant) -> Go {
        let armed = {
            let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
            match armed.take() {
                Some(armed) if moment.is(armed.moment) && armed.instant == instant => armed,
                other => {
                    *armed = other;
                    return Go::On;
                }
            }
        };
        let (go, word) = oneshot::channel();
        if armed.tell.send(go).is_err() {
            return Go::On;
        }
        timeout(HELD_MAX, word).await.ok().and_then(Result::ok).unwrap_or(Go::On)
    }
}

/// The parser of a link's protocol.
pub(super) enum Tap {
    Postgres(Postgres),
    Amqp,
    Http(Http),
}

impl Tap {
    fn on(link: Link) -> Self {
        match link.to {
            Part::Postgres => Self::Postgres(Postgres::default()),
            Part::RabbitMq => Self::Amqp,
            Part::Service(_) => Self::Http(Http::default()),
        }
    }

    pub(super) fn frame(&self, from_client: bool, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Postgres(postgres) => postgres.frame(from_client, bytes),
            Self::Amqp => Amqp::frame(bytes),
            Self::Http(_) => (!bytes.is_empty()).then_some(bytes.len()),
        }
    }

    pub(super) fn see(&mut self, from_client: bool, message: &[u8]) -> Option<Moment> {
        match self {
            Self::Postgres(postgres) => postgres.see(from_client, message),
            Self::Amqp => Amqp::see(from_client, message),
            Self::Http(http) => http.see(from_client, message),
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, link: Link, port: u16, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            // If nobody listens, the client sees a closed connection.
            if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                pump::join(client, server, Tap::on(link), &state).await;
            }
        });
    }
}
