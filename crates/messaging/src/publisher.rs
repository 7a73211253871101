//! Publishing with confirms: a message counts as sent when the broker has said that it keeps it.

use std::collections::HashSet;
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
use crate::message::{Outgoing, message_id, short};
use crate::{BrokerError, declare, spans, topology};

/// How long the broker has to confirm a batch.
const CONFIRM: Duration = Duration::from_secs(5);
const CLOSE: Duration = Duration::from_secs(1);
/// What becomes of messages, as it is counted.
const CONFIRMED: &str = "confirmed";
const FAILED: &str = "failed";

/// The queues are made once more because of messages that none took, at most once in this time.
const MAKE_ANEW: Duration = Duration::from_secs(30);

/// Publishes to the exchange of the events. Clones share one channel, which belongs to one batch at a time: lapin hands a
/// message that came back to whichever confirm of the channel comes next.
#[derive(Clone)]
pub struct Publisher {
    link: Arc<Link>,
    sending: Arc<Mutex<Sending>>,
}

#[derive(Default)]
struct Sending {
    /// Not while a batch has it.
    open: Option<Open>,
    made_anew: Option<Instant>,
}

/// A channel in confirm mode without outstanding confirms, and the connection it belongs to.
struct Open {
    live: Arc<Live>,
    channel: Channel,
}

impl Sending {
    /// Whether who makes the queues is to make them once more: without a channel the next batch begins with that.
    fn is_to_make_anew(&mut self, maker: Maker) -> bool {
        let is_due = maker == Maker::Us && self.made_anew.is_none_or(|at| at.elapsed() >= MAKE_ANEW);
        if is_due {
            self.made_anew = Some(Instant::now());
        }
        is_due
    }
}

impl Publisher {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        for result in [CONFIRMED, FAILED] {
            counter!("broker_published_total", "result" => result).increment(0);
        }
        counter!("broker_unroutable_total").increment(0);
        Self { link, sending: Arc::default() }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Takes leave of the broker.
    pub(crate) async fn close(&self) {
        let closing = async {
            if let Some(open) = self.sending.lock().await.open.take() {
                // An error says that the channel is closed already.
                let _closed = open.channel.close(200, "done".into()).await;
            }
        };
        // What does not end in time ends with the connection.
        let _ended = timeout(CLOSE, closing).await;
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
    /// Batches take their turns, for which this waits as long at most.
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
        let turn = timeout(CONFIRM, self.sending.lock()).await;
        let mut sending =
            turn.map_err(|_| BrokerError::Unavailable("other batches are not done in time".into()))?;
        let started = Instant::now();
        // Taken out, so that a batch that is given up halfway leaves no channel with outstanding confirms to the next: those
        // would take the messages that come back of it.
        let (open, mut ready) = (sending.open.take(), None);
        let attempt = async {
            let open = ready.insert(self.ready(open).await?);
            confirmed(&open.channel, messages, is_mandatory).await
        };
        let outcome = timeout(CONFIRM, attempt).await.unwrap_or_else(|_| {
            // Whatever is stuck in this connection must not pile up.
            if let Some(live) = self.link.current() {
                live.doubt();
            }
            Err(BrokerError::Unavailable("no confirm in time".into()))
        });
        histogram!("broker_publish_duration_seconds").record(started.elapsed());
        self.count(messages.len(), &outcome);
        let keeps_channel = match &outcome {
            Ok(()) => true,
            Err(BrokerError::Unroutable(_)) => !sending.is_to_make_anew(self.link.maker()),
            Err(_) => false,
        };
        if keeps_channel {
            sending.open = ready;
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

    /// The channel, or a new one where it is of no use any more.
    async fn ready(&self, open: Option<Open>) -> Result<Open, BrokerError> {
        let live = self.link.current().ok_or_else(|| BrokerError::Unavailable("not connected".into()))?;
        if let Some(open) = open
            && Arc::ptr_eq(&open.live, &live)
            && open.channel.status().connected()
        {
            return Ok(open);
        }
        declare::topology(live.connection(), self.link.maker()).await?;
        let channel = live.connection().create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        Ok(Open { live, channel })
    }
}

async fn confirmed(
    channel: &Channel,
    messages: &[Outgoing],
    is_mandatory: impl Fn(&Outgoing) -> bool,
) -> Result<(), BrokerError> {
    // The messages enter the channel in order, as each future is first polled in order.
    let confirmations = messages.iter().map(async |message| {
        let span = spans::publishing(EXCHANGE, message);
        // In a process without traces the message's own goes on as it came.
        let trace = span.context().or_else(|| message.trace.clone());
        let sent = channel.basic_publish(
            EXCHANGE.into(),
            short(&message.routing_key),
            BasicPublishOptions { mandatory: is_mandatory(message), ..BasicPublishOptions::default() },
            &message.body,
            message.properties(trace.as_ref()),
        );
        match (async { sent.await?.await }).await {
            Ok(confirmation) => Ok((span, confirmation)),
            Err(error) => {
                span.fail("unavailable");
                Err(error)
            }
        }
    });
    let (mut legs, mut returned, mut is_refused) = (Vec::new(), HashSet::new(), false);
    for (span, confirmation) in try_join_all(confirmations).await? {
        match confirmation {
            Confirmation::Ack(None) => {}
            Confirmation::Ack(Some(message)) => {
                let id = message_id(&message.delivery.properties).to_owned();
                returned.insert((id, message.delivery.routing_key.to_string()));
            }
            Confirmation::Nack(_) | Confirmation::NotRequested => {
                span.fail("refused");
                is_refused = true;
            }
        }
        legs.push(span);
    }
    if is_refused {
        return Err(BrokerError::Refused);
    }
    if returned.is_empty() {
        return Ok(());
    }
    // Whose a returned message is must be certain: all are sent again otherwise.
    let places = places(messages, &returned).ok_or(BrokerError::Refused)?;
    for place in &places {
        legs[*place].fail("refused");
    }
    Err(BrokerError::Unroutable(places))
}

/// Where in the batch the returned messages are, by id and routing key. `None` when one is not of this batch.
fn places(messages: &[Outgoing], returned: &HashSet<(String, String)>) -> Option<Vec<usize>> {
    let mut found = HashSet::new();
    let mut places = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let as_sent = (short(&message.message_id).to_string(), short(&message.routing_key).to_string());
        if returned.contains(&as_sent) {
            places.push(index);
            found.insert(as_sent);
        }
    }
    (found.len() == returned.len()).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returned_messages_are_told_by_id_and_routing_key() {
        let message = |id: &str, routing_key: &str| Outgoing {
            routing_key: routing_key.into(),
            message_id: id.into(),
            body: Vec::new(),
            trace: None,
        };
        let batch = [message("1", "a"), message("1", "b"), message("2", "b"), message("1", "b")];
        let of = |pairs: &[(&str, &str)]| {
            places(&batch, &pairs.iter().map(|(id, key)| ((*id).to_owned(), (*key).to_owned())).collect())
        };
        assert_eq!(of(&[("1", "b")]), Some(vec![1, 3]));
        assert_eq!(of(&[("2", "b"), ("1", "a")]), Some(vec![0, 2]));
        assert_eq!(of(&[("1", "a"), ("2", "a")]), None);
    }
}
