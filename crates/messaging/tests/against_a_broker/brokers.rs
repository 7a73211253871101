//! Brokers and events for these tests.

use chrono::DateTime;
use domain::{BusinessId, Clock, Entropy, EventId};
use events::{Body, EXCHANGE, Envelope};
use lapin::message::Delivery;
use lapin::options::{BasicGetOptions, BasicPublishOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Connection, ConnectionProperties};
use messaging::{Broker, Outgoing};
use settings::Secret;

pub(crate) fn broker(url: &str) -> Broker {
    Broker::start(&settings::Broker::new(Secret::new(url)), "test")
}

/// Events with unique ids, of a kind that `portal-api.facts` is bound to.
pub(crate) struct Events {
    entropy: Entropy,
    clock: Clock,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { entropy: Entropy::from_system().unwrap(), clock: Clock::manual(DateTime::UNIX_EPOCH) }
    }

    pub(crate) fn funded(&self) -> Envelope {
        self.event(Body::WalletFunded {})
    }

    pub(crate) fn event(&self, body: Body) -> Envelope {
        Envelope {
            id: EventId::generate(&self.clock, &self.entropy),
            business_id: BusinessId::generate(&self.clock, &self.entropy),
            occurred_at: self.clock.now(),
            body,
        }
    }
}

pub(crate) fn outgoing(envelope: &Envelope) -> Outgoing {
    Outgoing::of(envelope).unwrap()
}

/// Publishes the message as one whose handling fails unexpectedly since this time, in Unix seconds.
pub(crate) async fn publish_failing_since(url: &str, message: &Outgoing, since: i64) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let mut headers = FieldTable::default();
    headers.insert("failing-since".into(), AMQPValue::LongLongInt(since));
    let properties = BasicProperties::default().with_headers(headers);
    let (key, options) = (message.routing_key.as_str().into(), BasicPublishOptions::default());
    channel.basic_publish(EXCHANGE.into(), key, options, &message.body, properties).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
}

/// Moves one message with its headers. Operators do the same with dead letters.
pub(crate) async fn move_message(url: &str, from: &str, to: &str) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let taken = channel.basic_get(from.into(), BasicGetOptions { no_ack: true }).await.unwrap().unwrap();
    let Delivery { data, properties, .. } = taken.delivery;
    let options = BasicPublishOptions::default();
    channel.basic_publish("".into(), to.into(), options, &data, properties).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
}

/// The number of ready messages in a queue.
pub(crate) async fn ready_messages(url: &str, queue: &str) -> u32 {
    state(url, queue).await.message_count()
}

async fn state(url: &str, queue: &str) -> lapin::Queue {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let state = channel.queue_declare(queue.into(), passive, FieldTable::default()).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
    state
}

pub(crate) async fn unbind(url: &str, queue: &str, binding: &str) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.queue_unbind(queue.into(), EXCHANGE.into(), binding.into(), FieldTable::default()).await.unwrap();
    connection.close(200, "done".into()).await.unwrap();
}
