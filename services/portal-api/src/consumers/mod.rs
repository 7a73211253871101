//! What this service hears from the broker.

mod facts;
mod news;

pub(crate) use facts::FactsConsumer;
pub(crate) use news::NewsConsumer;
