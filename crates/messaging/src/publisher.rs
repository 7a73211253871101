//! Publishes with confirms: a message counts as sent after the broker has confirmed it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use events::EXCHANGE;
use futures_util::future::try_join_all;
use lapin::Channel;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use metrics::{counter, histogram};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::connect::Live;
use crate::declare::Declares;
use crate::link::Link;
use crate::message::{Outgoing, Publication, message_id, short};
use crate::{BrokerError, declare, spans, topology};

/// The time limit for the confirms of a batch.
const CONFIRM: Duration = Duration::from_secs(5);
const CLOSE: Duration = Duration::from_secs(1);
/// The outcome of messages in metrics.
const CONFIRMED: &str = "confirmed";
const FAILED: &str = "failed";

/// The shortest time between two redeclarations of the queues after unroutable messages.
const REDECLARE_INTERVAL: Duration = Duration::from_secs(30);

/// Publishes to the exchange of the events. Clones share one channel, which serves one batch at a time: lapin assigns a
/// returned message to the next confirm of the channel, even if that confirms another message.
#[derive(Clone)]
pub struct Publisher {
    link: Arc<Link>,
    sending: Arc<Mutex<Sending>>,
}

#[derive(Default)]
struct Sending {
    /// `None` while a batch uses it.
    open: Option<Open>,
    made_anew: Option<Instant>,
}

/// A channel in confirm mode without outstanding confirms, and its connection.
struct Open {
    live: Arc<Live>,
    channel: Channel,
}

impl Sending {
    /// Whether to redeclare the queues. The next batch does so when it opens a channel.
    fn should_redeclare(&mut self, maker: Declares) -> bool {
        let is_due =
            maker == Declares::Us && self.made_anew.is_none_or(|at| at.elapsed() >= REDECLARE_INTERVAL);
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

    /// A publisher with a channel of its own: its batches do not wait for those of others.
    #[must_use]
    pub fn with_own_channel(&self) -> Self {
        Self { link: self.link.clone(), sending: Arc::default() }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Closes the channel.
    pub(crate) async fn close(&self) {
        let closing = async {
            if let Some(open) = self.sending.lock().await.open.take() {
                // An error means that the channel is closed already.
                let _closed = open.channel.close(200, "done".into()).await;
            }
        };
        // After the timeout, the connection's end closes it.
        let _ended = timeout(CLOSE, closing).await;
        self.link.close().await;
    }

    /// Waits for a connection without a time limit.
    ///
    /// # Errors
    /// When the service has closed the broker.
    pub async fn connected(&self) -> Result<(), BrokerError> {
        self.link.connected().await.map(drop)
    }

    /// Publishes persistent messages in the given order and waits up to 5 s for all confirms. Waits up to 5 s before
    /// that if another batch is being published.
    ///
    /// # Errors
    /// [`BrokerError::NotTaken`] when the broker refused messages, or returned some that a shared queue should take; the
    /// others are confirmed. Any other error means that the state of all messages is unknown: publish all of them again.
    pub async fn publish(&self, messages: &[Outgoing]) -> Result<(), BrokerError> {
        self.send(messages, is_taken, Publication::First).await
    }

    /// As [`Publisher::publish`], for messages that may have been published before. Consumers are told.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub async fn publish_again(&self, messages: &[Outgoing]) -> Result<(), BrokerError> {
        self.send(messages, is_taken, Publication::Again).await
    }

    /// Publishes a copy of a received message, which is useless unless a queue takes it.
    ///
    /// # Errors
    /// As [`Publisher::publish`], and when no queue is bound to its routing key.
    pub(crate) async fn renew(
        &self,
        message: Outgoing,
        failing_since: Option<i64>,
    ) -> Result<(), BrokerError> {
        self.send(&[message], |_| true, Publication::Renewed { failing_since }).await
    }

    async fn send(
        &self,
        messages: &[Outgoing],
        is_mandatory: impl Fn(&Outgoing) -> bool,
        publication: Publication,
    ) -> Result<(), BrokerError> {
        if messages.is_empty() {
            return Ok(());
        }
        let turn = timeout(CONFIRM, self.sending.lock()).await;
        let mut sending =
            turn.map_err(|_| BrokerError::Unavailable("timed out waiting for other batches".into()))?;
        let started = Instant::now();
        // Taken out, so that an abandoned batch leaves no channel with outstanding confirms: those would receive the
        // returned messages of the next batch.
        let (open, mut ready) = (sending.open.take(), None);
        let attempt = async {
            let open = ready.insert(self.ready(open).await?);
            confirmed(&open.channel, messages, is_mandatory, publication).await
        };
        let outcome = timeout(CONFIRM, attempt).await.unwrap_or_else(|_| {
            // Replaces the connection, so that stuck confirms do not pile up.
            if let Some(live) = self.link.current() {
                live.mark_broken();
            }
            Err(BrokerError::Unavailable("timed out waiting for a confirm".into()))
        });
        histogram!("broker_publish_duration_seconds").record(started.elapsed());
        count(messages.len(), outcome.as_ref().ok());
        let not_taken = outcome?;
        if not_taken.returned.is_empty() || !sending.should_redeclare(self.link.maker()) {
            sending.open = ready;
        }
        not_taken.into_result()
    }

    /// The channel, or a new one if it is unusable.
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

/// Whether a shared queue should take the message.
fn is_taken(message: &Outgoing) -> bool {
    topology::is_taken(&message.routing_key)
}

/// The messages of a batch that the broker did not take, by their positions.
#[derive(Default)]
struct NotTaken {
    /// No queue is bound to their routing keys.
    returned: Vec<usize>,
    refused: Vec<usize>,
}

impl NotTaken {
    fn into_result(self) -> Result<(), BrokerError> {
        let mut all = self.returned;
        all.extend(self.refused);
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { Ok(()) } else { Err(BrokerError::NotTaken(all)) }
    }
}

/// Counts a batch; without an outcome, all its messages failed.
fn count(messages: usize, outcome: Option<&NotTaken>) {
    let returned = outcome.map_or(0, |not_taken| not_taken.returned.len());
    let failed = outcome.map_or(messages, |not_taken| returned + not_taken.refused.len());
    counter!("broker_unroutable_total").increment(returned as u64);
    counter!("broker_published_total", "result" => CONFIRMED).increment((messages - failed) as u64);
    counter!("broker_published_total", "result" => FAILED).increment(failed as u64);
}

async fn confirmed(
    channel: &Channel,
    messages: &[Outgoing],
    is_mandatory: impl Fn(&Outgoing) -> bool,
    publication: Publication,
) -> Result<NotTaken, BrokerError> {
    // Polling each future once in order preserves the order of the messages in the channel.
    let confirmations = messages.iter().map(async |message| {
        let span = spans::publishing(EXCHANGE, message);
        // Without tracing in this process, the message keeps its own trace context.
        let trace = span.context().or_else(|| message.trace.clone());
        let sent = channel.basic_publish(
            EXCHANGE.into(),
            short(&message.routing_key),
            BasicPublishOptions { mandatory: is_mandatory(message), ..BasicPublishOptions::default() },
            &message.body,
            message.properties(trace.as_ref(), publication),
        );
        match (async { sent.await?.await }).await {
            Ok(confirmation) => Ok((span, confirmation)),
            Err(error) => {
                span.fail("unavailable");
                Err(error)
            }
        }
    });
    let (mut legs, mut returned, mut not_taken) = (Vec::new(), HashSet::new(), NotTaken::default());
    for (place, (span, confirmation)) in try_join_all(confirmations).await?.into_iter().enumerate() {
        if !confirmation.is_ack() {
            not_taken.refused.push(place);
        }
        if let Some(message) = confirmation.take_message() {
            let id = message_id(&message.delivery.properties).to_owned();
            returned.insert((id, message.delivery.routing_key.to_string()));
        }
        legs.push(span);
    }
    if !returned.is_empty() {
        let unknown = || BrokerError::Unavailable("it returned a message that was not sent".into());
        not_taken.returned = places(messages, &returned).ok_or_else(unknown)?;
    }
    for place in not_taken.returned.iter().chain(&not_taken.refused) {
        legs[*place].fail("refused");
    }
    Ok(not_taken)
}

/// The positions of the returned messages in the batch, by id and routing key. `None` if one is not of this batch.
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
    fn returned_messages_are_identified_by_id_and_routing_key() {
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
