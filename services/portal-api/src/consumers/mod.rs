//! What this service hears from the broker.

mod facts;
mod news;
mod warnings;

pub(crate) use facts::FactsConsumer;
pub(crate) use news::NewsConsumer;
pub(crate) use warnings::WarningsConsumer;
