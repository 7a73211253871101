//! Events from the broker.

mod webhook_events;

pub(crate) use webhook_events::WebhookEvents;
