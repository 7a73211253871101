//! Publishing with confirms: a message counts as sent when the broker has said that it keeps it.

use std::sync::Arc;
use std::time::Duration;

use events::EXCHANGE;
use futures_util::future::try_join_all;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{Channel, Confirmation};
use metrics::{counter, histogram};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::connect::Live;
use crate::link::Link;
use crate::message::{Outgoing, short};
use crate::{BrokerError, declare, spans};

/// How long the broker has to confirm a batch.
const CONFIRM: Duration = Duration::from_secs(5);
const CLOSE: Duration = Duration::from_secs(1);
/// What becomes of messages, as it is counted.
const CONFIRMED: &str = "confirmed";
const FAILED: &str = "failed";

/// Publishes to the exchange of the events. Clones share one channel.
#[derive(Clone)]
pub struct Publisher {
    link: Arc<Link>,
    open: Arc<Mutex<Option<Open>>>,
}

/// A channel in confirm mode, and the connection it belongs to.
struct Open {
    live: Arc<Live>,
    channel: Channel,
}

impl Publisher {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        for result in [CONFIRMED, FAILED] {
            counter!("broker_published_total", "result" => result).increment(0);
        }
        Self { link, open: Arc::default() }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Takes leave of the broker.
    pub(crate) async fn close(&self) {
        if let Some(open) = self.open.lock().await.take() {
            // An error says that the channel is closed already.
            let _closed = timeout(CLOSE, open.channel.close(200, "done".into())).await;
        }
        self.link.close().await;
    }

    /// Waits until there is a connection, however long that takes.
    ///
    /// # Errors
    /// When the broker was closed by us.
    pub async fn connected(&self) -> Result<(), BrokerError> {
        self.link.connected().await.map(drop)
    }

    /// Publishes persistent messages in the given order and waits for the confirms of all, together, for at most 5 s.
    ///
    /// # Errors
    /// When any message was not confirmed. Nothing is then known of the others: all are to be published again.
    pub async fn publish(&self, messages: &[Outgoing]) -> Result<(), BrokerError> {
        self.send(messages, BasicPublishOptions::default()).await
    }

    /// Publishes a message that is of no use unless a queue takes it.
    ///
    /// # Errors
    /// As [`Publisher::publish`], and when no queue is bound to its routing key.
    pub(crate) async fn publish_to_queue(&self, message: Outgoing) -> Result<(), BrokerError> {
        self.send(&[message], BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() }).await
    }

    async fn send(&self, messages: &[Outgoing], options: BasicPublishOptions) -> Result<(), BrokerError> {
        if messages.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let outcome = timeout(CONFIRM, self.confirmed(messages, options)).await.unwrap_or_else(|_| {
            // Whatever is stuck in this connection must not pile up.
            if let Some(live) = self.link.current() {
                live.doubt();
            }
            Err(BrokerError::Unavailable("no confirm in time".into()))
        });
        histogram!("broker_publish_seconds").record(started.elapsed());
        let result = if outcome.is_ok() { CONFIRMED } else { FAILED };
        counter!("broker_published_total", "result" => result).increment(messages.len() as u64);
        if outcome.is_err() {
            // What is still unconfirmed on this channel is nobody's business any more.
            *self.open.lock().await = None;
        }
        outcome
    }

    async fn confirmed(
        &self,
        messages: &[Outgoing],
        options: BasicPublishOptions,
    ) -> Result<(), BrokerError> {
        let channel = self.channel().await?;
        // The messages enter the channel in order, as each future is first polled in order.
        let confirmations = messages.iter().map(async |message| {
            let leg = spans::publishing(EXCHANGE, message);
            // In a process without traces the message's own goes on as it came.
            let trace = leg.context().or_else(|| message.trace.clone());
            let sent = channel.basic_publish(
                EXCHANGE.into(),
                short(&message.routing_key),
                options,
                &message.body,
                message.properties(trace.as_ref()),
            );
            let confirmation = async { sent.await?.await }.await;
            match &confirmation {
                Ok(Confirmation::Ack(None)) => {}
                Ok(_) => leg.fail("refused"),
                Err(_) => leg.fail("unavailable"),
            }
            confirmation
        });
        for confirmation in try_join_all(confirmations).await? {
            match confirmation {
                Confirmation::Ack(None) => {}
                // What comes back was to reach a queue, and none is bound.
                Confirmation::Ack(Some(_)) | Confirmation::Nack(_) | Confirmation::NotRequested => {
                    return Err(BrokerError::Refused);
                }
            }
        }
        Ok(())
    }

    async fn channel(&self) -> Result<Channel, BrokerError> {
        let mut open = self.open.lock().await;
        let live = self.link.current().ok_or_else(|| BrokerError::Unavailable("not connected".into()))?;
        if let Some(Open { live: of, channel }) = &*open
            && Arc::ptr_eq(of, &live)
            && channel.status().connected()
        {
            return Ok(channel.clone());
        }
        declare::topology(live.connection(), self.link.maker()).await?;
        let channel = live.connection().create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        *open = Some(Open { live, channel: channel.clone() });
        Ok(channel)
    }
}
