//! Order updates for the open pages of a business.

use std::sync::Arc;

use bytes::Bytes;
use domain::{BusinessId, EventId, Mode, UserId};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::live_updates::OpenPages;
use crate::live_updates::channels::{Channels, Subscription};

/// A page that falls this many updates behind must reload.
const BACKLOG_MAX: usize = 256;

/// One event of an order.
#[derive(Clone, Debug)]
pub(crate) struct OrderUpdate {
    pub(crate) id: EventId,
    pub(crate) mode: Mode,
    /// JSON without line breaks.
    pub(crate) data: Bytes,
}

#[derive(Clone, Debug)]
pub(crate) enum StreamItem {
    Order(OrderUpdate),
    /// Updates may be missing: the page must reload its list.
    Reload,
}

type Sender = broadcast::Sender<StreamItem>;

pub(crate) struct OrderStreams(Arc<Channels<Sender>>);

/// The stream of one open page. Dropping it frees its slot.
pub(crate) struct OrderStream {
    _subscription: Subscription<Sender>,
    receiver: broadcast::Receiver<StreamItem>,
}

impl OrderStreams {
    pub(crate) fn new(max_per_business: usize, open_pages: &OpenPages) -> Self {
        Self(Channels::new(max_per_business, "portal_order_streams", open_pages))
    }

    /// `None` if the business or the user has too many open streams.
    pub(crate) fn open(&self, business: BusinessId, user: UserId) -> Option<OrderStream> {
        let opened = self.0.subscribe((business, user), || Sender::new(BACKLOG_MAX), Sender::subscribe);
        opened.map(|(subscription, receiver)| OrderStream { _subscription: subscription, receiver })
    }

    pub(crate) fn has_subscribers(&self, business: BusinessId) -> bool {
        self.0.has_subscribers(business)
    }

    pub(crate) fn publish(&self, business: BusinessId, order: OrderUpdate) {
        self.0.publish(business, |sender| send(sender, StreamItem::Order(order)));
    }

    /// Makes all open pages reload.
    pub(crate) fn reload_all(&self) {
        self.0.publish_to_all(|sender| send(sender, StreamItem::Reload));
    }
}

fn send(sender: &Sender, item: StreamItem) {
    // Fails only without receivers.
    let _receivers = sender.send(item);
}

impl OrderStream {
    /// The next item. A page that fell behind skips the missed updates and reloads.
    pub(crate) async fn next(&mut self) -> Option<StreamItem> {
        match self.receiver.recv().await {
            Ok(item) => Some(item),
            Err(RecvError::Lagged(_)) => {
                self.receiver = self.receiver.resubscribe();
                Some(StreamItem::Reload)
            }
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    fn order(mode: Mode) -> OrderUpdate {
        let id = EventId::generate(&Clock::system(), &Entropy::seeded(3));
        OrderUpdate { id, mode, data: Bytes::from_static(b"{}") }
    }

    fn businesses() -> (BusinessId, BusinessId) {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(9));
        (BusinessId::generate(&clock, &entropy), BusinessId::generate(&clock, &entropy))
    }

    fn user() -> UserId {
        UserId::generate(&Clock::system(), &Entropy::seeded(4))
    }

    #[tokio::test]
    async fn a_business_receives_only_its_own_orders() {
        let streams = OrderStreams::new(10, &OpenPages::default());
        let (mine, theirs) = businesses();
        let mut stream = streams.open(mine, user()).unwrap();
        let _other = streams.open(theirs, user()).unwrap();
        streams.publish(theirs, order(Mode::Live));
        streams.publish(mine, order(Mode::Test));
        assert!(matches!(stream.next().await, Some(StreamItem::Order(order)) if order.mode == Mode::Test));
        assert!(stream.receiver.is_empty());
    }

    #[tokio::test]
    async fn a_page_that_falls_behind_reloads_and_others_do_not() {
        let streams = OrderStreams::new(10, &OpenPages::default());
        let (busy, quiet) = businesses();
        let (mut slow, mut other) =
            (streams.open(busy, user()).unwrap(), streams.open(quiet, user()).unwrap());
        for _ in 0..=BACKLOG_MAX {
            streams.publish(busy, order(Mode::Live));
        }
        streams.publish(quiet, order(Mode::Live));
        assert!(matches!(slow.next().await, Some(StreamItem::Reload)));
        assert!(slow.receiver.is_empty(), "the reloaded list contains the missed updates");
        streams.publish(busy, order(Mode::Test));
        assert!(matches!(slow.next().await, Some(StreamItem::Order(_))));
        assert!(matches!(other.next().await, Some(StreamItem::Order(_))));
    }

    #[tokio::test]
    async fn streams_are_limited_and_closing_one_frees_its_slot() {
        let streams = OrderStreams::new(5, &OpenPages::default());
        let (business, other) = businesses();
        let (entropy, clock) = (Entropy::seeded(4), Clock::system());
        let [greedy, colleague, third] = [(); 3].map(|()| UserId::generate(&clock, &entropy));
        let mut open: Vec<_> = std::iter::from_fn(|| streams.open(business, greedy)).collect();
        assert_eq!(open.len(), 3, "one more than are left for others");
        open.push(streams.open(business, colleague).unwrap());
        assert!(streams.open(business, colleague).is_none());
        open.push(streams.open(business, third).unwrap());
        assert!(streams.open(business, UserId::generate(&clock, &entropy)).is_none());
        assert!(streams.open(other, greedy).is_some());
        drop(open);
        assert!(streams.open(business, greedy).is_some());
        assert!(!streams.has_subscribers(other));
    }
}
