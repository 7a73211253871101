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
use crate::declare::Maker;
use crate::link::Link;
use crate::message::{Outgoing, short};
use crate::{BrokerError, declare, spans, topology};

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
        counter!("broker_unroutable_total").increment(0);
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
    /// [`BrokerError::Unroutable`] when a message came back that a shared queue should take; the others are confirmed.
    /// Otherwise when any message was not confirmed; nothing is then known of the others: all are to be published again.
    pub async fn publish(&self, messages: &[Outgoing]) -> Result<(), BrokerError> {
        self.send(messages, |message| topology::is_taken(&message.routing_key)).await
    }

    /// Publishes a message that is of no use unless a queue takes it.
    ///
    /// # Errors
    /// As [`Publisher::publish`], and when no queue is bound to its routing key.
    pub(crate) async fn publish_to_queue(&self, message: Outgoing) -> Result<(), BrokerError> {
        self.send(&[message], |_| true).await
    }

    async fn send(
        &self,
        messages: &[Outgoing],
        is_mandatory: impl Fn(&Outgoing) -> bool,
    ) -> Result<(), BrokerError> {
        if messages.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let outcome = timeout(CONFIRM, self.confirmed(messages, is_mandatory)).await.unwrap_or_else(|_| {
            // Whatever is stuck in this connection must not pile up.
            if let Some(live) = self.link.current() {
                live.doubt();
            }
            Err(BrokerError::Unavailable("no confirm in time".into()))
        });
        histogram!("broker_publish_seconds").record(started.elapsed());
        self.count(messages.len(), &outcome);
        let begin_anew = match &outcome {
            Ok(()) => false,
            // Who makes the queues makes them once more.
            Err(BrokerError::Unroutable(_)) => self.link.maker() == Maker::Us,
            // What is still unconfirmed on this channel is nobody's business any more.
            Err(_) => true,
        };
        if begin_anew {
            *self.open.lock().await = None;
        }
        outcome
    }

    fn count(&self, messages: usize, outcome: &Result<(), BrokerError>) {
        let failed = match outcome {
            Ok(()) => 0,
            Err(BrokerError::Unroutable(returned)) => {
                counter!("broker_unroutable_total").increment(returned.len() as u64);
                returned.len()
            }
            Err(_) => messages,
        };
        counter!("broker_published_total", "result" => CONFIRMED).increment((messages - failed) as u64);
        counter!("broker_published_total", "result" => FAILED).increment(failed as u64);
    }

    async fn confirmed(
        &self,
        messages: &[Outgoing],
        is_mandatory: impl Fn(&Outgoing) -> bool,
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
                BasicPublishOptions { mandatory: is_mandatory(message), ..BasicPublishOptions::default() },
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
        let mut returned = Vec::new();
        for (index, confirmation) in try_join_all(confirmations).await?.into_iter().enumerate() {
            match confirmation {
                Confirmation::Ack(None) => {}
                Confirmation::Ack(Some(_)) => returned.push(index),
                Confirmation::Nack(_) | Confirmation::NotRequested => return Err(BrokerError::Refused),
            }
        }
        if returned.is_empty() { Ok(()) } else { Err(BrokerError::Unroutable(returned)) }
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
