//! What this service hears from the broker.

mod facts;
mod live_orders;

pub(crate) use facts::FactsConsumer;
pub(crate) use live_orders::LiveOrdersConsumer;
