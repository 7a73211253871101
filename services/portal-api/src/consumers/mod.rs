//! Consumers of events from the broker.

mod go_live_facts;
mod live_updates;
mod warnings;

pub(crate) use go_live_facts::GoLiveFactsConsumer;
pub(crate) use live_updates::LiveUpdatesConsumer;
pub(crate) use warnings::WarningsConsumer;
