//! The consumer loop: subscribe, handle, acknowledge; and again after every loss.

use std::sync::Arc;
use std::time::Duration;

use domain::Entropy;
use events::Envelope;
use futures_util::StreamExt;
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
use crate::hold::{Verdict, settle};
use crate::message::{self, Outgoing};
use crate::{Broker, BrokerError, Handler, Queue, declare, spans};

/// How long a subscription may take.
const SUBSCRIBE: Duration = Duration::from_secs(10);
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How long the broker has to confirm that it sends no more, and that a channel is closed.
const CANCEL: Duration = Duration::from_secs(1);
/// How long the messages in hand may take when we stop.
const FINISH: Duration = Duration::from_secs(10);

/// What becomes of a message, as it is counted.
const HANDLED: &str = "handled";
const DEAD_LETTERED: &str = "dead_lettered";
const RENEWED: &str = "requeued";
const LET_GO: &str = "abandoned";
const PANICKED: &str = "panicked";

/// 1 while messages of the queue are heard, whatever the connection is worth.
fn subscribed_gauge(queue: &'static str) -> Gauge {
    gauge!("consumer_subscribed", "queue" => queue)
}

/// Consumes a queue until `stop` is cancelled, handling up to `parallel` messages at once; then finishes what it holds,
/// within 10 s, and returns. Declares the exchange and the queue, and subscribes anew after every loss.
///
/// A message is acknowledged when its handler is done with it. One that is not an [`Envelope`] goes to the dead letters.
pub async fn consume(
    broker: Broker,
    queue: Queue,
    parallel: u16,
    handler: impl Handler,
    stop: CancellationToken,
) {
    let parallel = parallel.max(1);
    // A counter that begins with its first message hides that message from whoever watches its increase.
    for outcome in [HANDLED, DEAD_LETTERED, RENEWED, LET_GO, PANICKED] {
        count(queue.name, outcome, 0);
    }
    // What is not there is no 0 for whoever watches it.
    subscribed_gauge(queue.name).set(0);
    let crew = Arc::new(Crew {
        queue,
        parallel,
        places: Arc::new(Semaphore::new(parallel.into())),
        handler,
        entropy: Entropy::from_system().unwrap_or_else(|_| Entropy::seeded(std::process::id().into())),
        broker,
    });
    let mut in_hand = JoinSet::new();
    // Its channel is needed for the acknowledgements of what is in hand.
    let last = crew.serve(&mut in_hand, &stop).await;
    let finished = async { while in_hand.join_next().await.is_some() {} };
    if timeout(FINISH, finished).await.is_err() {
        tracing::warn!(
            queue = crew.queue.name,
            "messages in hand did not finish; they will be delivered again"
        );
    }
    if let Some(subscription) = last {
        subscription.acks.flush().await;
        // An error says that the channel is closed already.
        let _closed = timeout(CANCEL, subscription.channel.close(200, "done".into())).await;
    }
}

/// What one consumer works with.
struct Crew<H> {
    queue: Queue,
    parallel: u16,
    /// Bounds the messages in hand across subscriptions: those of a lost one may still be under way.
    places: Arc<Semaphore>,
    handler: H,
    entropy: Entropy,
    broker: Broker,
}

/// A subscription, with what keeps it alive.
struct Subscription {
    consumer: Consumer,
    channel: Channel,
    acks: Acks,
    _acknowledging: AbortOnDropHandle<()>,
    _live: Arc<Live>,
}

impl<H: Handler> Crew<H> {
    /// Subscribes and hands out messages, again and again, until we stop; then returns the subscription of that time.
    async fn serve(
        self: &Arc<Self>,
        in_hand: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Option<Subscription> {
        let mut pause = Duration::ZERO;
        let mut told = false;
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
                    if std::mem::take(&mut told) {
                        tracing::info!(queue = self.queue.name, "subscribed again");
                    }
                    let subscribed = subscribed_gauge(self.queue.name);
                    subscribed.set(1);
                    self.handler.connected().await;
                    let last = self.run(subscription, in_hand, stop).await;
                    subscribed.set(0);
                    if stop.is_cancelled() {
                        return last;
                    }
                }
                Err(error) if !std::mem::replace(&mut told, true) => {
                    tracing::warn!(queue = self.queue.name, %error, "cannot subscribe; trying on");
                }
                Err(error) => tracing::debug!(queue = self.queue.name, %error, "cannot subscribe"),
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
            // The next messages are here before the ones in hand are acknowledged.
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
                live.doubt();
                Err(BrokerError::Unavailable("no answer to a subscription".into()))
            }
        }
    }

    /// Hands out messages until the subscription is lost, or we stop: then it is returned, to be kept until the
    /// messages in hand are acknowledged.
    async fn run(
        self: &Arc<Self>,
        mut subscription: Subscription,
        in_hand: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Option<Subscription> {
        // Cancelled when this ends: the broker then delivers again what is merely held.
        let ours = stop.child_token();
        let _lost = ours.clone().drop_guard();
        loop {
            let delivery = tokio::select! {
                delivery = subscription.consumer.next() => delivery,
                Some(_) = in_hand.join_next() => continue,
                () = stop.cancelled() => break,
            };
            let Some(Ok(delivery)) = delivery else { return None };
            let place = tokio::select! {
                place = self.places.clone().acquire_owned() => place.ok()?,
                // The message at hand was not begun; the broker takes it back.
                () = stop.cancelled() => break,
            };
            let (crew, ours, acks) = (self.clone(), ours.clone(), subscription.acks.clone());
            acks.begin(delivery.delivery_tag);
            in_hand.spawn(async move {
                crew.take(delivery, &acks, ours).await;
                drop(place);
            });
        }
        let cancel = subscription.channel.basic_cancel(self.queue.name.into(), BasicCancelOptions::default());
        if !matches!(timeout(CANCEL, cancel).await, Ok(Ok(()))) {
            tracing::debug!(queue = self.queue.name, "the broker did not confirm the end of a subscription");
        }
        Some(subscription)
    }

    /// Handles one message and answers the broker.
    async fn take(self: Arc<Self>, delivery: Delivery, acks: &Acks, ours: CancellationToken) {
        let queue = self.queue.name;
        let span = spans::processing(queue, &delivery);
        let started = Instant::now();
        let verdict = match serde_json::from_slice::<Envelope>(&delivery.data) {
            Ok(envelope) => {
                let crew = self.clone();
                // A task of its own, so that a panic costs one delivery and not the consumer.
                let settling =
                    async move { settle(&crew.handler, envelope, &crew.queue, &crew.entropy, &ours).await };
                tokio::spawn(settling.instrument(span.clone())).await
            }
            // The parser's own words may quote the body.
            Err(error) => Ok(Verdict::Dead(format!(
                "not an event: {:?} at column {}",
                error.classify(),
                error.column()
            ))),
        };
        histogram!("message_handling_duration_seconds", "queue" => queue).record(started.elapsed());
        self.answer(&delivery, verdict.ok(), acks).instrument(span).await;
    }

    /// No verdict is a handler that panicked; the message goes back to the queue, and in the end to the dead letters.
    async fn answer(&self, delivery: &Delivery, verdict: Option<Verdict>, acks: &Acks) {
        let (queue, tag) = (self.queue.name, delivery.delivery_tag);
        let outcome = match verdict {
            Some(Verdict::Handled) => {
                acks.handled(tag);
                HANDLED
            }
            Some(Verdict::Dead(reason)) => {
                tracing::error!(queue, %reason, "a message goes to the dead letters");
                telemetry::fail(DEAD_LETTERED);
                self.reject(delivery, false, acks).await;
                DEAD_LETTERED
            }
            Some(Verdict::Renew) => {
                self.renew(delivery, acks).await;
                RENEWED
            }
            // It stays open: nothing that is acknowledged may take it along.
            Some(Verdict::LetGo) => LET_GO,
            None => {
                tracing::error!(queue, "the handler of a message panicked");
                telemetry::fail(PANICKED);
                self.reject(delivery, true, acks).await;
                PANICKED
            }
        };
        count(queue, outcome, 1);
    }

    /// Puts a copy into the queue, and then gives up the original: the copy's deliveries are counted from nought.
    async fn renew(&self, delivery: &Delivery, acks: &Acks) {
        let copy = self.queue.renewal_key().map(|routing_key| Outgoing {
            routing_key,
            message_id: message::message_id(&delivery.properties).to_owned(),
            body: delivery.data.clone(),
            trace: message::trace(&delivery.properties),
        });
        let renewed = match copy {
            Some(copy) => self.broker.publisher().publish_to_queue(copy).await,
            // Of a queue of this process alone, where deliveries are not counted.
            None => Err(BrokerError::Refused),
        };
        if renewed.is_ok() {
            acks.handled(delivery.delivery_tag);
            return;
        }
        // Not a failure of the message: RabbitMQ from 4.3 on does not count it, earlier ones do.
        let options = BasicNackOptions { requeue: true, ..BasicNackOptions::default() };
        self.given_back(delivery, acks, delivery.nack(options).await);
    }

    /// A failure of the message, which the broker counts.
    async fn reject(&self, delivery: &Delivery, requeue: bool, acks: &Acks) {
        self.given_back(delivery, acks, delivery.reject(BasicRejectOptions { requeue }).await);
    }

    fn given_back(&self, delivery: &Delivery, acks: &Acks, answer: lapin::Result<bool>) {
        match answer {
            Ok(_) => acks.rejected(delivery.delivery_tag),
            Err(error) => {
                let queue = self.queue.name;
                tracing::debug!(queue, %error, "a message could not be given back; it will be delivered again");
            }
        }
    }
}

fn count(queue: &'static str, outcome: &'static str, messages: u64) {
    counter!("messages_consumed_total", "queue" => queue, "outcome" => outcome).increment(messages);
}
