//! Orders as they move, handed to whichever of a business's pages are open on this instance. Each business has a
//! channel of its own: a busy one cannot make another's pages fall behind, let alone hear of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use domain::{BusinessId, EventId, Mode};
use tokio::sync::broadcast::{self, error::RecvError};

/// What a page that reads too slowly may fall behind before it is told to load its list anew.
const BACKLOG_MAX: usize = 256;

/// One event of an order, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct LiveOrder {
    pub(crate) id: EventId,
    pub(crate) mode: Mode,
    /// JSON, without line breaks.
    pub(crate) data: Bytes,
}

#[derive(Clone, Debug)]
pub(crate) enum Notice {
    Order(LiveOrder),
    /// Events may have been missed: load the list anew.
    Reload,
}

pub(crate) struct LiveOrders {
    streams_max: usize,
    businesses: Mutex<HashMap<BusinessId, Channel>>,
}

struct Channel {
    sender: broadcast::Sender<Notice>,
    streams: usize,
}

/// One open page. Closing it frees its place.
pub(crate) struct LiveStream {
    hub: Arc<LiveOrders>,
    business: BusinessId,
    receiver: broadcast::Receiver<Notice>,
}

impl LiveOrders {
    /// With at most `streams_max` open pages per business.
    pub(crate) fn new(streams_max: usize) -> Arc<Self> {
        Arc::new(Self { streams_max, businesses: Mutex::default() })
    }

    /// `None` when the business has too many open already.
    pub(crate) fn open(self: &Arc<Self>, business: BusinessId) -> Option<LiveStream> {
        let mut businesses = self.lock();
        let channel = businesses
            .entry(business)
            .or_insert_with(|| Channel { sender: broadcast::Sender::new(BACKLOG_MAX), streams: 0 });
        if channel.streams >= self.streams_max {
            return None;
        }
        channel.streams += 1;
        let receiver = channel.sender.subscribe();
        metrics::gauge!("portal_order_streams").increment(1.0);
        Some(LiveStream { hub: self.clone(), business, receiver })
    }

    /// Whether anybody of this business is looking.
    pub(crate) fn has_listeners(&self, business: BusinessId) -> bool {
        self.lock().contains_key(&business)
    }

    pub(crate) fn publish(&self, business: BusinessId, order: LiveOrder) {
        if let Some(channel) = self.lock().get(&business) {
            // Without receivers there is nobody to tell, which is no failure.
            let _receivers = channel.sender.send(Notice::Order(order));
        }
    }

    /// Tells every open page that events may have been missed.
    pub(crate) fn reload_all(&self) {
        for channel in self.lock().values() {
            let _receivers = channel.sender.send(Notice::Reload);
        }
    }

    fn close(&self, business: BusinessId) {
        let mut businesses = self.lock();
        if let Some(channel) = businesses.get_mut(&business) {
            channel.streams -= 1;
            if channel.streams == 0 {
                businesses.remove(&business);
            }
        }
        metrics::gauge!("portal_order_streams").decrement(1.0);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BusinessId, Channel>> {
        self.businesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveStream {
    /// The next notice; a page that fell behind skips what it missed and is told to reload.
    pub(crate) async fn next(&mut self) -> Option<Notice> {
        match self.receiver.recv().await {
            Ok(notice) => Some(notice),
            Err(RecvError::Lagged(_)) => {
                self.receiver = self.receiver.resubscribe();
                Some(Notice::Reload)
            }
            Err(RecvError::Closed) => None,
        }
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        self.hub.close(self.business);
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    fn order(mode: Mode) -> LiveOrder {
        let id = EventId::generate(&Clock::system(), &Entropy::seeded(3));
        LiveOrder { id, mode, data: Bytes::from_static(b"{}") }
    }

    fn businesses() -> (BusinessId, BusinessId) {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(9));
        (BusinessId::generate(&clock, &entropy), BusinessId::generate(&clock, &entropy))
    }

    #[tokio::test]
    async fn a_business_hears_of_its_own_orders_alone() {
        let hub = LiveOrders::new(10);
        let (mine, theirs) = businesses();
        let mut stream = hub.open(mine).unwrap();
        let _other = hub.open(theirs).unwrap();
        hub.publish(theirs, order(Mode::Live));
        hub.publish(mine, order(Mode::Test));
        assert!(matches!(stream.next().await, Some(Notice::Order(order)) if order.mode == Mode::Test));
        assert!(stream.receiver.is_empty());
    }

    #[tokio::test]
    async fn a_page_that_falls_behind_is_told_to_reload_and_others_are_not() {
        let hub = LiveOrders::new(10);
        let (busy, quiet) = businesses();
        let (mut slow, mut other) = (hub.open(busy).unwrap(), hub.open(quiet).unwrap());
        for _ in 0..=BACKLOG_MAX {
            hub.publish(busy, order(Mode::Live));
        }
        hub.publish(quiet, order(Mode::Live));
        assert!(matches!(slow.next().await, Some(Notice::Reload)));
        assert!(slow.receiver.is_empty(), "what it missed is in the list that it loads anew");
        hub.publish(busy, order(Mode::Test));
        assert!(matches!(slow.next().await, Some(Notice::Order(_))));
        assert!(matches!(other.next().await, Some(Notice::Order(_))));
    }

    #[tokio::test]
    async fn open_pages_are_bounded_and_closing_one_frees_its_place() {
        let hub = LiveOrders::new(2);
        let (business, other) = businesses();
        let first = hub.open(business).unwrap();
        let _second = hub.open(business).unwrap();
        assert!(hub.open(business).is_none());
        assert!(hub.open(other).is_some());
        drop(first);
        assert!(hub.open(business).is_some());
        assert!(!hub.has_listeners(other));
    }
}
