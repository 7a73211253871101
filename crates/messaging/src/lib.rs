//! RabbitMQ: one topic exchange, a publisher that waits for confirms, and consumers that acknowledge each message.
//! Every connection reconnects automatically. The crate knows the envelope of an event, but not its use by the
//! services.

mod acks;
mod broker;
mod connect;
mod consumer;
mod declare;
#[cfg(test)]
mod definitions;
mod depth;
mod error;
mod handler;
mod hold;
mod link;
mod message;
mod publisher;
mod queue;
mod spans;
mod topology;

pub use broker::{Backlog, Broker, exposure};
pub use consumer::consume;
pub use depth::watch_depth;
pub use error::BrokerError;
pub use handler::{Handler, Rejection};
pub use message::Outgoing;
pub use publisher::Publisher;
pub use queue::Queue;
