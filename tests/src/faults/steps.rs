//! The named steps of a live order and its consequences: the link of each, and the message that marks it.

use local_stack::{Link, Part, Service};

use super::wire::{Instant, Mark, Moment};

/// A step. A fault is injected just before or just after it takes effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) link: Link,
    pub(crate) moment: Moment,
    pub(crate) instant: Instant,
}

/// All steps, in the order of an order's life.
pub(crate) fn all() -> Vec<Step> {
    let order_api = Service::OrderApi;
    let dispatcher = Service::WebhookDispatcher;
    let mut steps = Vec::new();
    steps.extend(commit("order stored", order_api, Mark::OrderStored));
    steps.extend(both("debit sent", order_api, Service::Wallet.into(), Moment::DebitCall));
    steps.extend(commit("debit stored", Service::Wallet, Mark::DebitStored));
    steps.extend(both("reply sent", order_api, Service::Wallet.into(), Moment::DebitAnswer));
    steps.extend(commit("order finalised", order_api, Mark::OrderPlaced));
    for publisher in [order_api, Service::Wallet] {
        steps.extend(both("event published", publisher, Part::RabbitMq, Moment::Publish));
        steps.extend(both("event confirmed", publisher, Part::RabbitMq, Moment::Confirm));
        steps.extend(commit("event deleted", publisher, Mark::EventsDeleted));
    }
    for consumer in [dispatcher, Service::Wallet] {
        steps.extend(both("event consumed", consumer, Part::RabbitMq, Moment::Deliver));
        steps.extend(commit("event handled", consumer, Mark::EventSeen));
        steps.extend(both("event acknowledged", consumer, Part::RabbitMq, Moment::Ack));
    }
    steps.extend(commit("webhook stored", dispatcher, Mark::WebhookStored));
    steps.extend(commit("attempt stored", dispatcher, Mark::AttemptStored));
    steps.extend(commit("top-up credited", Service::Wallet, Mark::TopUpCredited));
    steps
}

/// A commit: not sent; done with the response lost; done.
fn commit(name: &'static str, service: Service, mark: Mark) -> [Step; 3] {
    let link = Link { from: service, to: Part::Postgres };
    let (commit, committed) = (Moment::Commit(mark.into()), Moment::Committed(mark.into()));
    [(commit, Instant::Held), (committed, Instant::Held), (committed, Instant::Passed)]
        .map(|(moment, instant)| Step { name, link, moment, instant })
}

/// A message: not arrived, and arrived.
fn both(name: &'static str, from: Service, to: Part, moment: Moment) -> [Step; 2] {
    [Instant::Held, Instant::Passed].map(|instant| Step { name, link: Link { from, to }, moment, instant })
}
