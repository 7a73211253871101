//! Publishes events like the other services, and counts dead letters.

use events::Envelope;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::{Connection, ConnectionProperties};
use messaging::{Broker, Outgoing, Queue};
use test_kit::until;

use crate::harness::Harness;

/// Publishes as a relay would, in order.
pub(crate) async fn publish(harness: &Harness, envelopes: &[Envelope]) {
    let broker = Broker::start(&harness.settings.broker, "test");
    let messages: Vec<_> = envelopes
        .iter()
        .map(|envelope| Outgoing {
            routing_key: envelope.routing_key().as_str().to_owned(),
            message_id: envelope.id.to_string(),
            body: serde_json::to_vec(envelope).expect("JSON"),
            trace: None,
        })
        .collect();
    let published = async || broker.publisher().publish(&messages).await.is_ok();
    until("the events are published", published).await;
    broker.close().await;
}

/// The number of a queue's dead letters.
pub(crate) async fn dead_letters(harness: &Harness, queue: &Queue) -> u32 {
    let url = harness.settings.broker.url.expose();
    let connection = Connection::connect(url, ConnectionProperties::default()).await.expect("a connection");
    let channel = connection.create_channel().await.expect("a channel");
    let look = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
    let name = queue.dead_letters();
    let queue = channel.queue_declare(name.into(), look, FieldTable::default()).await.expect("the queue");
    queue.message_count()
}
