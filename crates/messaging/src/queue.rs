//! The two kinds of queue and their arguments on the broker.

use std::time::Duration;

use events::queues::SharedQueue;
use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable};

/// After this many returns to the queue, a message is dead-lettered, because it keeps crashing its consumer.
const DELIVERY_LIMIT: i64 = 20;
/// The longest durable queue. Beyond this, the broker rejects messages, and the outboxes keep them.
const LENGTH_MAX: i64 = 1_000_000;
/// The broker takes back a message that is held for 30 min and counts that as a delivery. Before that, the message is
/// requeued.
const HOLD_MAX: Duration = Duration::from_secs(20 * 60);
/// The longest queue of an instance that stopped reading. The oldest messages are dropped beyond this.
const BACKLOG_MAX: i64 = 10_000;

/// A queue, bound to the exchange of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub(crate) name: &'static str,
    pub(crate) bindings: Vec<String>,
    pub(crate) kind: Kind,
    pub(crate) hold_max: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Shared,
    PerInstance,
}

impl Queue {
    /// A durable quorum queue that the instances of a service share. Its dead letters are in `<name>.dead-letters`.
    pub fn shared(SharedQueue { name, bindings }: SharedQueue) -> Self {
        Self::new(name, bindings, Kind::Shared)
    }

    /// A queue of this process alone, deleted with its connection, for cache invalidation and live streams: every
    /// instance receives every message. Messages during a disconnection are lost;
    /// [`Handler::connected`](crate::Handler::connected) is called after each reconnection.
    pub fn per_instance(name: &'static str, bindings: &[&str]) -> Self {
        Self::new(name, bindings, Kind::PerInstance)
    }

    fn new(name: &'static str, bindings: &[&str], kind: Kind) -> Self {
        let bindings = bindings.iter().map(|&binding| binding.to_owned()).collect();
        Self { name, bindings, kind, hold_max: HOLD_MAX }
    }

    /// For a broker that takes messages back sooner than RabbitMQ's default (`consumer_timeout`).
    #[must_use]
    pub fn held_at_most(mut self, hold_max: Duration) -> Self {
        self.hold_max = hold_max;
        self
    }

    /// The patterns of routing keys that the queue is bound to.
    pub fn bindings(&self) -> &[String] {
        &self.bindings
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The queue for messages of a shared queue that cannot be handled.
    pub fn dead_letters(&self) -> String {
        format!("{}.dead-letters", self.name)
    }

    /// The routing key under which only this shared queue receives a requeued message.
    pub fn renewal_key(&self) -> Option<String> {
        (self.kind == Kind::Shared).then(|| format!("renewed.{}", self.name))
    }

    pub(crate) fn options(&self) -> QueueDeclareOptions {
        match self.kind {
            Kind::Shared => QueueDeclareOptions::durable(),
            Kind::PerInstance => QueueDeclareOptions::exclusive().auto_delete(),
        }
    }

    pub(crate) fn arguments(&self) -> FieldTable {
        match self.kind {
            Kind::Shared => {
                let mut arguments = quorum();
                arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(DELIVERY_LIMIT));
                // The default exchange routes by queue name.
                arguments.insert("x-dead-letter-exchange".into(), text(""));
                arguments.insert("x-dead-letter-routing-key".into(), text(&self.dead_letters()));
                arguments
            }
            Kind::PerInstance => {
                let mut arguments = FieldTable::default();
                arguments.insert("x-max-length".into(), AMQPValue::LongLongInt(BACKLOG_MAX));
                arguments
            }
        }
    }

    pub(crate) fn dead_letter_arguments() -> FieldTable {
        quorum()
    }
}

fn quorum() -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), text("quorum"));
    arguments.insert("x-max-length".into(), AMQPValue::LongLongInt(LENGTH_MAX));
    arguments.insert("x-overflow".into(), text("reject-publish"));
    arguments
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}
