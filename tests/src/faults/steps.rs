//! The named steps of a live order and its consequences: the link of each, and the message that marks it.

use local_stack::{Link, Part, Service};

use super::wire::{Instant, Mark, Marks, Moment};

/// A step. A fault is injected just before or just after it takes effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) link: Link,
    pub(crate) moment: Moment,
    pub(crate) instant: Instant,
}

impl Step {
    pub(crate) fn label(&self) -> String {
        format!("{} by {}", self.name, self.link.from.name())
    }
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
        steps.extend(both("event acknowledged", consumer, Part::RabbitMq, Moment::Ack));
    }
    steps.extend(commit("event handled", Service::Wallet, Mark::EventSeen));
    steps.extend(commit("webhook stored", dispatcher, Mark::WebhookStored));
    steps.extend(commit("sent webhook stored", dispatcher, sent_webhook_stored()));
    steps.extend(commit("attempt stored", dispatcher, Mark::AttemptStored));
    steps.extend(commit("top-up credited", Service::Wallet, Mark::TopUpCredited));
    steps
}

/// An eager webhook is stored together with its attempt.
fn sent_webhook_stored() -> Marks {
    Marks::from(Mark::WebhookStored).and(Mark::AttemptStored.into())
}

/// The broker has an event, and its row is not deleted.
pub(crate) fn published_not_deleted() -> Step {
    let [_, step] = both("event confirmed", Service::OrderApi, Part::RabbitMq, Moment::Confirm);
    step
}

/// The deletion is committed, and perhaps not on the disk.
pub(crate) fn deleted_in_memory() -> Step {
    let [.., step] = commit("event deleted", Service::OrderApi, Mark::EventsDeleted);
    step
}

/// A receiver has an eager webhook, and nothing of it is stored.
pub(crate) fn sent_not_stored() -> Step {
    let [step, ..] = commit("sent webhook stored", Service::WebhookDispatcher, sent_webhook_stored());
    step
}

/// A commit: not sent; done with the response lost; done.
fn commit(name: &'static str, service: Service, marks: impl Into<Marks>) -> [Step; 3] {
    let (link, marks) = (Link { from: service, to: Part::Postgres }, marks.into());
    let (commit, committed) = (Moment::Commit(marks), Moment::Committed(marks));
    [(commit, Instant::Held), (committed, Instant::Held), (committed, Instant::Passed)]
        .map(|(moment, instant)| Step { name, link, moment, instant })
}

/// A message: not arrived, and arrived.
fn both(name: &'static str, from: Service, to: Part, moment: Moment) -> [Step; 2] {
    [Instant::Held, Instant::Passed].map(|instant| Step { name, link: Link { from, to }, moment, instant })
}
