//! Keeps one connection to the broker open and reconnects after a loss.

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
use crate::declare::Declares;

const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Short, so that service resumes soon after the broker. Jitter prevents that all instances reconnect at once.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The interval of checking the connection's state, in addition to its events.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A connection that reconnects automatically until it is dropped or closed.
pub(crate) struct Link {
    current: watch::Receiver<Option<Arc<Live>>>,
    last_error: Arc<Mutex<Option<BrokerError>>>,
    closing: CancellationToken,
    maker: Declares,
}

/// The state of the task that keeps the connection.
struct Keeper {
    url: settings::Secret,
    authorities: Option<settings::Certificates>,
    name: String,
    purpose: &'static str,
    current: watch::Sender<Option<Arc<Live>>>,
    last_error: Arc<Mutex<Option<BrokerError>>>,
    closing: CancellationToken,
    entropy: Entropy,
}

impl Link {
    pub(crate) fn start(settings: &settings::Broker, service: &'static str, purpose: &'static str) -> Self {
        let (sender, current) = watch::channel(None);
        let maker = if settings.declare { Declares::Us } else { Declares::Platform };
        let link = Self { current, last_error: Arc::default(), closing: CancellationToken::new(), maker };
        let keeper = Keeper {
            url: settings.url.clone(),
            authorities: settings.ca.clone(),
            name: format!("{service} {purpose}"),
            purpose,
            current: sender,
            last_error: link.last_error.clone(),
            closing: link.closing.clone(),
            // Used only for jitter.
            entropy: Entropy::from_system().unwrap_or_else(|_| Entropy::seeded(std::process::id().into())),
        };
        tokio::spawn(keeper.keep());
        link
    }

    pub(crate) fn maker(&self) -> Declares {
        self.maker
    }

    /// The connection, if it is open.
    pub(crate) fn current(&self) -> Option<Arc<Live>> {
        self.current.borrow().clone().filter(|live| live.connection().status().connected())
    }

    /// Why there is no connection.
    pub(crate) fn last_error(&self) -> BrokerError {
        let last_error = self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last_error.unwrap_or(BrokerError::Connecting)
    }

    /// Waits until there is a connection.
    pub(crate) async fn connected(&self) -> Result<Arc<Live>, BrokerError> {
        let mut changes = self.current.clone();
        loop {
            let live = changes.wait_for(Option::is_some).await.map(|live| live.clone());
            let live = live.map_err(|_| BrokerError::Unavailable("the connection is closed".into()))?;
            match live {
                Some(live) if live.connection().status().connected() => return Ok(live),
                // Lost, and its keeper has not noticed yet.
                Some(live) => live.mark_broken(),
                None => {}
            }
            sleep(PAUSE_MIN).await;
        }
    }

    pub(crate) async fn close(&self) {
        self.closing.cancel();
        let mut changes = self.current.clone();
        // An error means that the keeper has ended, which is the goal.
        let _ended =
            tokio::time::timeout(Duration::from_secs(3), async { while changes.changed().await.is_ok() {} })
                .await;
    }
}

impl Keeper {
    async fn keep(self) {
        // Publish 0 up front: alerts ignore absent series.
        gauge!("broker_connected", "purpose" => self.purpose).set(0);
        counter!("broker_connections_lost_total", "purpose" => self.purpose).increment(0);
        let mut pause = PAUSE_MIN;
        let mut is_failing = false;
        loop {
            let connecting = Live::connect(&self.url, self.authorities.as_ref(), &self.name);
            let connected = tokio::select! {
                connected = connecting => connected,
                () = self.unwanted() => return,
            };
            *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) =
                connected.as_ref().err().cloned();
            match connected {
                Ok(live) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut is_failing) {
                        tracing::info!(purpose = self.purpose, "reconnected to the broker");
                    }
                    if self.watch(Arc::new(live)).await.is_break() {
                        return;
                    }
                    is_failing = true;
                    counter!("broker_connections_lost_total", "purpose" => self.purpose).increment(1);
                    tracing::warn!(purpose = self.purpose, "broker connection lost; reconnecting");
                }
                Err(error) if !std::mem::replace(&mut is_failing, true) => {
                    tracing::warn!(purpose = self.purpose, %error, "broker unreachable; retrying");
                }
                Err(error) => tracing::debug!(purpose = self.purpose, %error, "broker unreachable"),
            }
            tokio::select! {
                () = sleep(pause.mul_f64(1.0 + 0.2 * self.entropy.jitter())) => {}
                () = self.unwanted() => return,
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Offers the connection to users until it ends.
    async fn watch(&self, live: Arc<Live>) -> std::ops::ControlFlow<()> {
        let mut events = live.connection().events_listener();
        self.current.send_replace(Some(live.clone()));
        let connected = gauge!("broker_connected", "purpose" => self.purpose);
        connected.set(1);
        let flow = loop {
            tokio::select! {
                event = events.next() => match event {
                    None => break std::ops::ControlFlow::Continue(()),
                    // A channel's error, such as a missing queue, does not affect the connection.
                    Some(Event::Error(_)) if live.connection().status().connected() => {}
                    Some(Event::Error(_)) => break std::ops::ControlFlow::Continue(()),
                    Some(Event::ConnectionBlocked(reason)) => {
                        tracing::warn!(purpose = self.purpose, %reason, "broker blocks publishers");
                    }
                    Some(_) => {}
                },
                () = sleep(CHECK_INTERVAL) => {
                    if !live.connection().status().connected() {
                        break std::ops::ControlFlow::Continue(());
                    }
                }
                () = live.marked_broken() => break std::ops::ControlFlow::Continue(()),
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

    /// Completes when the link is closed or all its users have dropped it.
    async fn unwanted(&self) {
        tokio::select! {
            () = self.closing.cancelled() => {}
            () = self.current.closed() => {}
        }
    }
}
