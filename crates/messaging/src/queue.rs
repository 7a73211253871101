//! The two kinds of queue, as the broker is told of them.

use lapin::options::QueueDeclareOptions;
use lapin::types::{AMQPValue, FieldTable};

/// After this many returns to the queue a message is dead-lettered: it takes its consumers down.
const DELIVERY_LIMIT: i64 = 20;
/// A durable queue takes no more beyond this, and the broker then refuses: the outboxes keep what they have.
const LENGTH_MAX: i64 = 1_000_000;
/// What an instance that stopped reading may fall behind; the oldest are then forgotten.
const BACKLOG_MAX: i64 = 10_000;

/// A queue, bound to the exchange of the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub(crate) name: &'static str,
    pub(crate) bindings: Vec<String>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Shared,
    PerInstance,
}

impl Queue {
    /// A durable quorum queue that the instances of a service share, with its dead letters in `<name>.dead-letters`.
    pub fn shared(name: &'static str, bindings: &[&str]) -> Self {
        Self::new(name, bindings, Kind::Shared)
    }

    /// A queue of this process alone, gone with its connection, for cache invalidation and live streams: every
    /// instance hears everything. What is missed while away is missed; [`Handler::connected`](crate::Handler::connected)
    /// tells of each return.
    pub fn per_instance(name: &'static str, bindings: &[&str]) -> Self {
        Self::new(name, bindings, Kind::PerInstance)
    }

    fn new(name: &'static str, bindings: &[&str], kind: Kind) -> Self {
        Self { name, bindings: bindings.iter().map(|&binding| binding.to_owned()).collect(), kind }
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
