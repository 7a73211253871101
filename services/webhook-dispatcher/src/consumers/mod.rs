//! Consumers of events from the broker.

mod erasures;
mod webhook_events;

pub(crate) use erasures::Erasures;
pub(crate) use webhook_events::WebhookEvents;
