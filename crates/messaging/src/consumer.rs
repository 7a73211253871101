//! The consumer loop: subscribe, handle, acknowledge, and resubscribe after a loss.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Entropy};
use events::Envelope;
use futures_util::{FutureExt, StreamExt};
use lapin::message::Delivery;
use lapin::options::{
    BasicCancelOptions, BasicConsumeOptions, BasicNackOptions, BasicQosOptions, BasicRejectOptions,
};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use metrics::{Gauge, counter, gauge, histogram};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::acks::Acks;
use crate::connect::Live;
use crate::hold::{Disposition, Received, handle_until_done};
use crate::message::{self, Outgoing};
use crate::{Broker, BrokerError, Handler, Queue, declare, spans};

/// The time limit for subscribing.
const SUBSCRIBE: Duration = Duration::from_secs(10);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The time limit for cancelling a subscription and for closing a channel.
const CANCEL: Duration = Duration::from_secs(1);
/// The time limit for messages in flight when the service stops.
const FINISH: Duration = Duration::from_secs(10);

/// The outcome of a message in metrics.
const HANDLED: &str = "handled";
const DEAD_LETTERED: &str = "dead_lettered";
const RENEWED: &str = "requeued";
const FAILING: &str = "failing";
const ABANDONED: &str = "abandoned";
const PANICKED: &str = "panicked";

/// 0 while the consumer should be subscribed to the queue and is not.
fn subscribed_gauge(queue: &'static str) -> Gauge {
    gauge!("consumer_subscribed", "queue" => queue)
}

/// Consumes a queue until `stop` is cancelled and handles up to `parallel` messages at once. Then finishes the messages
/// in flight, within 10 s. Declares the exchange and the queue, and resubscribes after every loss.
///
/// A message is acknowledged after its handler has finished. A message that is not an [`Envelope`] goes to the dead
/// letters.
pub async fn consume(
    broker: Broker,
    queue: Queue,
    parallel: u16,
    handler: impl Handler,
    stop: CancellationToken,
) {
    let parallel = parallel.max(1);
    // Publish 0 up front: the first increment would otherwise be invisible in rates.
    for outcome in [HANDLED, DEAD_LETTERED, RENEWED, FAILING, ABANDONED, PANICKED] {
        count(queue.name, outcome, 0);
    }
    // Publish 0 up front: alerts ignore absent series.
    subscribed_gauge(queue.name).set(0);
    let consumer = Arc::new(ConsumerState {
        queue,
        parallel,
        places: Arc::new(Semaphore::new(parallel.into())),
        handler,
        clock: Clock::system(),
        entropy: Entropy::from_system().unwrap_or_else(|_| Entropy::seeded(std::process::id().into())),
        broker,
    });
    let mut in_flight = JoinSet::new();
    // The channel is needed to acknowledge the messages in flight.
    let last = consumer.serve(&mut in_flight, &stop).await;
    let finished = async { while in_flight.join_next().await.is_some() {} };
    if timeout(FINISH, finished).await.is_err() {
        tracing::warn!(
            queue = consumer.queue.name,
            "messages in flight did not finish; they will be redelivered"
        );
    }
    if let Some(subscription) = last {
        subscription.acks.flush().await;
        // An error means that the channel is closed already.
        let _closed = timeout(CANCEL, subscription.channel.close(200, "done".into())).await;
    }
    subscribed_gauge(consumer.queue.name).set(1);
}

/// The state of a consumer.
struct ConsumerState<H> {
    queue: Queue,
    parallel: u16,
    /// Limits the messages in flight across subscriptions, because those of a lost subscription may still run.
    places: Arc<Semaphore>,
    handler: H,
    clock: Clock,
    entropy: Entropy,
    broker: Broker,
}

/// A subscription and what keeps it alive.
struct Subscription {
    consumer: Consumer,
    channel: Channel,
    acks: Acks,
    _acknowledging: AbortOnDropHandle<()>,
    _live: Arc<Live>,
}

impl<H: Handler> ConsumerState<H> {
    /// Subscribes and dispatches messages repeatedly until the service stops. Returns the last subscription.
    async fn serve(
        self: &Arc<Self>,
        in_flight: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Option<Subscription> {
        let mut pause = Duration::ZERO;
        let mut is_failing = false;
        loop {
            tokio::select! {
                () = sleep(pause) => {}
                () = stop.cancelled() => return None,
            }
            let subscribed = tokio::select! {
                subscribed = self.subscribe() => subscribed,
                () = stop.cancelled() => return None,
            };
            pause = (pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
            match subscribed {
                Ok(subscription) => {
                    pause = PAUSE_MIN;
                    if std::mem::take(&mut is_failing) {
                        tracing::info!(queue = self.queue.name, "resubscribed");
                    }
                    self.handler.connected().await;
                    let subscribed = subscribed_gauge(self.queue.name);
                    subscribed.set(1);
                    let last = self.run(subscription, in_flight, stop).await;
                    subscribed.set(0);
                    if stop.is_cancelled() {
                        return last;
                    }
                }
                Err(error) if !std::mem::replace(&mut is_failing, true) => {
                    tracing::warn!(queue = self.queue.name, %error, "subscribing failed; retrying");
                }
                Err(error) => tracing::debug!(queue = self.queue.name, %error, "subscribing failed"),
            }
        }
    }

    async fn subscribe(&self) -> Result<Subscription, BrokerError> {
        let live = self.broker.consuming().connected().await?;
        let subscribing = async {
            let maker = self.broker.consuming().maker();
            declare::exchange(live.connection(), maker).await?;
            let name = declare::queue(live.connection(), &self.queue, maker).await?;
            let channel = live.connection().create_channel().await?;
            // Prefetch more messages while the current ones are being acknowledged.
            let prefetch = self.parallel.saturating_mul(2);
            channel.basic_qos(prefetch, BasicQosOptions::default()).await?;
            let consumer = channel
                .basic_consume(
                    name,
                    self.queue.name.into(),
                    BasicConsumeOptions::default(),
                    FieldTable::default(),
                )
                .await?;
            let acks = Acks::new(channel.clone(), prefetch);
            Ok((consumer, channel, acks))
        };
        match timeout(SUBSCRIBE, subscribing).await {
            Ok(Ok((consumer, channel, acks))) => {
                let acknowledging = AbortOnDropHandle::new(tokio::spawn(acks.clone().run()));
                Ok(Subscription { consumer, channel, acks, _acknowledging: acknowledging, _live: live })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => {
                live.mark_broken();
                Err(BrokerError::Unavailable("timed out while subscribing".into()))
            }
        }
    }

    /// Dispatches messages until the subscription is lost or the service stops. In the latter case, returns the
    /// subscription to keep it open until the messages in flight are acknowledged.
    async fn run(
        self: &Arc<Self>,
        mut subscription: Subscription,
        in_flight: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Option<Subscription> {
        // Cancelled at the end of this function: the broker redelivers messages that are only held.
        let ours = stop.child_token();
        let _lost = ours.clone().drop_guard();
        loop {
            let delivery = tokio::select! {
                delivery = subscription.consumer.next() => delivery,
                Some(_) = in_flight.join_next() => continue,
                () = stop.cancelled() => break,
            };
            let Some(Ok(delivery)) = delivery else { return None };
            let place = tokio::select! {
                place = self.places.clone().acquire_owned() => place.ok()?,
                // The current message has not started; the broker redelivers it.
                () = stop.cancelled() => break,
            };
            let (consumer, ours, acks) = (self.clone(), ours.clone(), subscription.acks.clone());
            acks.begin(delivery.delivery_tag);
            in_flight.spawn(async move {
                consumer.take(delivery, &acks, ours).await;
                drop(place);
            });
        }
        let cancel = subscription.channel.basic_cancel(self.queue.name.into(), BasicCancelOptions::default());
        if !matches!(timeout(CANCEL, cancel).await, Ok(Ok(()))) {
            tracing::debug!(queue = self.queue.name, "timed out cancelling a subscription");
        }
        Some(subscription)
    }

    /// Handles one message and answers the broker.
    async fn take(self: Arc<Self>, delivery: Delivery, acks: &Acks, ours: CancellationToken) {
        let queue = self.queue.name;
        let span = spans::processing(queue, &delivery);
        let started = Instant::now();
        let disposition = match serde_json::from_slice::<Envelope>(&delivery.data) {
            Ok(envelope) => {
                let is_again = delivery.redelivered || message::is_published_again(&delivery.properties);
                let failing_since = message::failing_since(&delivery.properties);
                let received = Received { envelope, is_again, failing_since };
                let time = (&self.clock, &self.entropy);
                let handling = handle_until_done(&self.handler, received, &self.queue, time, &ours);
                // A panic fails one delivery but not the consumer.
                AssertUnwindSafe(handling.instrument(span.clone())).catch_unwind().await.ok()
            }
            // The parser's error message may quote the body.
            Err(error) => Some(Disposition::Dead(format!(
                "not an event: {:?} at column {}",
                error.classify(),
                error.column()
            ))),
        };
        histogram!("message_handling_duration_seconds", "queue" => queue).record(started.elapsed());
        self.answer(&delivery, disposition, acks).instrument(span).await;
    }

    /// Without a disposition, the handler panicked: the message returns to the queue, and finally goes to the dead
    /// letters.
    async fn answer(&self, delivery: &Delivery, disposition: Option<Disposition>, acks: &Acks) {
        let (queue, tag) = (self.queue.name, delivery.delivery_tag);
        let outcome = match disposition {
            Some(Disposition::Handled) => {
                acks.handled(tag);
                HANDLED
            }
            Some(Disposition::Dead(reason)) => {
                tracing::error!(queue, %reason, "message dead-lettered");
                telemetry::fail(DEAD_LETTERED);
                self.reject(delivery, false, acks).await;
                DEAD_LETTERED
            }
            Some(Disposition::Renew { failing_since }) => {
                self.renew(delivery, failing_since, acks).await;
                if failing_since.is_some() { FAILING } else { RENEWED }
            }
            // It stays unacknowledged, so a batched acknowledgement must not include it.
            Some(Disposition::Abandoned) => ABANDONED,
            None => {
                tracing::error!(queue, "message handler panicked");
                telemetry::fail(PANICKED);
                self.reject(delivery, true, acks).await;
                PANICKED
            }
        };
        count(queue, outcome, 1);
    }

    /// Publishes a copy to the queue and then drops the original, which resets the number of deliveries.
    async fn renew(&self, delivery: &Delivery, failing_since: Option<i64>, acks: &Acks) {
        let copy = self.queue.renewal_key().map(|routing_key| Outgoing {
            routing_key,
            message_id: message::message_id(&delivery.properties).to_owned(),
            body: delivery.data.clone(),
            trace: message::trace(&delivery.properties),
        });
        let renewed = match copy {
            Some(copy) => self.broker.publisher().renew(copy, failing_since).await.is_ok(),
            // A queue per instance does not count deliveries.
            None => false,
        };
        if renewed {
            acks.handled(delivery.delivery_tag);
            return;
        }
        // Not a failure of the message. RabbitMQ 4.3 and later do not count this delivery; earlier versions do.
        let options = BasicNackOptions { requeue: true, ..BasicNackOptions::default() };
        self.record_return(delivery, acks, delivery.nack(options).await);
    }

    /// Returns the message as failed; the broker counts that.
    async fn reject(&self, delivery: &Delivery, requeue: bool, acks: &Acks) {
        self.record_return(delivery, acks, delivery.reject(BasicRejectOptions { requeue }).await);
    }

    fn record_return(&self, delivery: &Delivery, acks: &Acks, answer: lapin::Result<bool>) {
        match answer {
            Ok(_) => acks.rejected(delivery.delivery_tag),
            Err(error) => {
                let queue = self.queue.name;
                tracing::debug!(queue, %error, "returning a message failed; it will be redelivered");
            }
        }
    }
}

fn count(queue: &'static str, outcome: &'static str, messages: u64) {
    counter!("messages_consumed_total", "queue" => queue, "outcome" => outcome).increment(messages);
}
