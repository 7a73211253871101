//! The two kinds of queue and their arguments on the broker.

use std::time::Duration;

use events::queues::SharedQueue;
use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable};

/// After this many returns to the queue a message is dead-lettered: it takes its consumers down.
const DELIVERY_LIMIT: i64 = 20;
/// A durable queue takes no more beyond this, and the broker then refuses: the outboxes keep what they have.
const LENGTH_MAX: i64 = 1_000_000;
/// The broker takes a message back that is held for 30 min, and counts that as a delivery. Before that it is put into
/// the queue anew.
const HOLD_MAX: Duration = Duration::from_secs(20 * 60);
/// What an instance that stopped reading may fall behind; the oldest are then forgotten.
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
    /// A durable quorum queue that the instances of a service share, with its dead letters in `<name>.dead-letters`.
    pub fn shared(SharedQueue { name, bindings }: SharedQueue) -> Self {
        Self::new(name, bindings, Kind::Shared)
    }

    /// A queue of this process alone, gone with its connection, for cache invalidation and live streams: every
    /// instance hears everything. What is missed while away is missed; [`Handler::connected`](crate::Handler::connected)
    /// tells of each return.
    pub fn per_instance(name: &'static str, bindings: &[&str]) -> Self {
        Self::new(name, bindings, Kind::PerInstance)
    }

    fn new(name: &'static str, bindings: &[&str], kind: Kind) -> Self {
        let bindings = bindings.iter().map(|&binding| binding.to_owned()).collect();
        Self { name, bindings, kind, hold_max: HOLD_MAX }
    }

    /// As a broker needs it that takes messages back sooner than RabbitMQ does by default (`consumer_timeout`).
    #[must_use]
    pub fn held_at_most(mut self, hold_max: Duration) -> Self {
        self.hold_max = hold_max;
        self
    }

    /// The patterns of routing keys that it hears.
    pub fn bindings(&self) -> &[String] {
        &self.bindings
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where a shared queue's messages go that cannot be handled.
    pub fn dead_letters(&self) -> String {
        format!("{}.dead-letters", self.name)
    }

    /// The routing key under which a shared queue, and no other, gets one of its own messages once more.
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
                // The default exchange delivers to the queue that the routing key names.
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
