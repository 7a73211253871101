//! Keeps one connection to the broker: makes it, notices its end, makes the next.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::Entropy;
use futures_util::StreamExt;
use lapin::Event;
use metrics::{counter, gauge};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::BrokerError;
use crate::connect::Live;
use crate::declare::Maker;

const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Short, so that service returns soon after the broker does; jitter keeps the instances from returning as one.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often the state of a connection is looked at, besides listening to its events.
const LOOK: Duration = Duration::from_secs(1);

/// A connection that comes back by itself. Ends when dropped or closed.
pub(crate) struct Link {
    current: watch::Receiver<Option<Arc<Live>>>,
    why_not: Arc<Mutex<Option<BrokerError>>>,
    closing: CancellationToken,
    maker: Maker,
}

/// What the task that keeps the connection works with.
struct Keeper {
    url: settings::Secret,
    authorities: Option<settings::Certificates>,
    name: String,
    purpose: &'static str,
    current: watch::Sender<Option<Arc<Live>>>,
    why_not: Arc<Mutex<Option<BrokerError>>>,
    closing: CancellationToken,
    entropy: Entropy,
}

impl Link {
    pub(crate) fn start(settings: &settings::Broker, service: &'static str, purpose: &'static str) -> Self {
        let (sender, current) = watch::channel(None);
        let maker = if settings.declare { Maker::Us } else { Maker::Platform };
        let link = Self { current, why_not: Arc::default(), closing: CancellationToken::new(), maker };
        let keeper = Keeper {
            url: settings.url.clone(),
            authorities: settings.ca.clone(),
            name: format!("{service} {purpose}"),
            purpose,
            current: sender,
            why_not: link.why_not.clone(),
            closing: link.closing.clone(),
            // Only jitter is drawn from it.
            entropy: Entropy::from_system().unwrap_or_else(|_| Entropy::seeded(std::process::id().into())),
        };
        tokio::spawn(keeper.keep());
        link
    }

    pub(crate) fn maker(&self) -> Maker {
        self.maker
    }

    /// The connection, if there is one now.
    pub(crate) fn current(&self) -> Option<Arc<Live>> {
        self.current.borrow().clone().filter(|live| live.connection().status().connected())
    }

    /// Why there is none, as far as that is known.
    pub(crate) fn why_not(&self) -> BrokerError {
        let why_not = self.why_not.lock().unwrap_or_else(PoisonError::into_inner).clone();
        why_not.unwrap_or_else(|| BrokerError::Unavailable("not connected".into()))
    }

    /// Waits until there is a connection.
    pub(crate) async fn connected(&self) -> Result<Arc<Live>, BrokerError> {
        let mut changes = self.current.clone();
        loop {
            let live = changes.wait_for(Option::is_some).await.map(|live| live.clone());
            let live = live.map_err(|_| BrokerError::Unavailable("the connection was closed".into()))?;
            match live {
                Some(live) if live.connection().status().connected() => return Ok(live),
                // Lost, and not yet noticed by its keeper.
                Some(live) => live.doubt(),
                None => {}
            }
            sleep(PAUSE_MIN).await;
        }
    }

    pub(crate) async fn close(&self) {
        self.closing.cancel();
        let mut changes = self.current.clone();
        // An error says that the keeper has ended, which is what is waited for.
        let _ended =
            tokio::time::timeout(Duration::from_secs(3), async { while changes.changed().await.is_ok() {} })
                .await;
    }
}

impl Keeper {
    async fn keep(self) {
        // What is not there is no 0 for whoever watches it.
        gauge!("broker_connected", "purpose" => self.purpose).set(0);
        counter!("broker_connections_lost_total", "purpose" => self.purpose).increment(0);
        let mut pause = PAUSE_MIN;
        let mut told = false;
        loop {
            let connecting = Live::connect(&self.url, self.authorities.as_ref(), &self.name);
            let connected = tokio::select! {
                connected = connecting => connected,
                () = self.unwanted() => return,
            };
            *self.why_not.lock().unwrap_or_else(PoisonError::into_inner) = connected.as_ref().err().cloned();
            match connected {
                Ok(live) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut told) {
                        tracing::info!(purpose = self.purpose, "connected to the broker again");
                    }
                    if self.watch_over(Arc::new(live)).await.is_break() {
                        return;
                    }
                    told = true;
                    counter!("broker_connections_lost_total", "purpose" => self.purpose).increment(1);
                    tracing::warn!(
                        purpose = self.purpose,
                        "the connection to the broker was lost; reconnecting"
                    );
                }
                Err(error) if !std::mem::replace(&mut told, true) => {
                    tracing::warn!(purpose = self.purpose, %error, "the broker cannot be reached; trying on");
                }
                Err(error) => tracing::debug!(purpose = self.purpose, %error, "the broker cannot be reached"),
            }
            tokio::select! {
                () = sleep(pause.mul_f64(1.0 + 0.2 * self.entropy.jitter())) => {}
                () = self.unwanted() => return,
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Offers the connection until its end.
    async fn watch_over(&self, live: Arc<Live>) -> std::ops::ControlFlow<()> {
        let mut events = live.connection().events_listener();
        self.current.send_replace(Some(live.clone()));
        let connected = gauge!("broker_connected", "purpose" => self.purpose);
        connected.set(1);
        let flow = loop {
            tokio::select! {
                event = events.next() => match event {
                    None => break std::ops::ControlFlow::Continue(()),
                    // One of a channel, a queue that is missing, leaves the connection as it is.
                    Some(Event::Error(_)) if live.connection().status().connected() => {}
                    Some(Event::Error(_)) => break std::ops::ControlFlow::Continue(()),
                    Some(Event::ConnectionBlocked(reason)) => {
                        tracing::warn!(purpose = self.purpose, %reason, "the broker takes no messages for now");
                    }
                    Some(_) => {}
                },
                () = sleep(LOOK) => {
                    if !live.connection().status().connected() {
                        break std::ops::ControlFlow::Continue(());
                    }
                }
                () = live.doubted() => break std::ops::ControlFlow::Continue(()),
                () = self.unwanted() => {
                    live.close().await;
                    break std::ops::ControlFlow::Break(());
                }
            }
        };
        self.current.send_replace(None);
        connected.set(0);
        flow
    }

    /// Closed, or dropped by all who could use it.
    async fn unwanted(&self) {
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = self.current.closed() => {}
        }
    }
}
