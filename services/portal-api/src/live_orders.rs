//! Orders as they move, handed to whichever of a business's pages are open on this instance.

use std::sync::Arc;

use bytes::Bytes;
use domain::{BusinessId, EventId, Mode, UserId};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::open_pages::{OpenPages, Place};

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

type Sender = broadcast::Sender<Notice>;

pub(crate) struct LiveOrders(Arc<OpenPages<Sender>>);

/// One open page. Closing it frees its place.
pub(crate) struct LiveStream {
    _place: Place<Sender>,
    receiver: broadcast::Receiver<Notice>,
}

impl LiveOrders {
    /// With at most `streams_max` open pages per business.
    pub(crate) fn new(streams_max: usize) -> Self {
        Self(OpenPages::new(streams_max, "portal_order_streams"))
    }

    /// `None` when the business or the user has too many open already.
    pub(crate) fn open(&self, business: BusinessId, user: UserId) -> Option<LiveStream> {
        let opened = self.0.open((business, user), || Sender::new(BACKLOG_MAX), Sender::subscribe);
        opened.map(|(place, receiver)| LiveStream { _place: place, receiver })
    }

    /// Whether anybody of this business is looking.
    pub(crate) fn has_listeners(&self, business: BusinessId) -> bool {
        self.0.has(business)
    }

    pub(crate) fn publish(&self, business: BusinessId, order: LiveOrder) {
        self.0.tell(business, |sender| send(sender, Notice::Order(order)));
    }

    /// Tells every open page that events may have been missed.
    pub(crate) fn reload_all(&self) {
        self.0.tell_all(|sender| send(sender, Notice::Reload));
    }
}

fn send(sender: &Sender, notice: Notice) {
    // Without receivers there is nobody to tell, which is no failure.
    let _receivers = sender.send(notice);
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

    fn user() -> UserId {
        UserId::generate(&Clock::system(), &Entropy::seeded(4))
    }

    #[tokio::test]
    async fn a_business_hears_of_its_own_orders_alone() {
        let hub = LiveOrders::new(10);
        let (mine, theirs) = businesses();
        let mut stream = hub.open(mine, user()).unwrap();
        let _other = hub.open(theirs, user()).unwrap();
        hub.publish(theirs, order(Mode::Live));
        hub.publish(mine, order(Mode::Test));
        assert!(matches!(stream.next().await, Some(Notice::Order(order)) if order.mode == Mode::Test));
        assert!(stream.receiver.is_empty());
    }

    #[tokio::test]
    async fn a_page_that_falls_behind_is_told_to_reload_and_others_are_not() {
        let hub = LiveOrders::new(10);
        let (busy, quiet) = businesses();
        let (mut slow, mut other) = (hub.open(busy, user()).unwrap(), hub.open(quiet, user()).unwrap());
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
        let hub = LiveOrders::new(5);
        let (business, other) = businesses();
        let (entropy, clock) = (Entropy::seeded(4), Clock::system());
        let [greedy, colleague, third] = [(); 3].map(|()| UserId::generate(&clock, &entropy));
        let mut open: Vec<_> = std::iter::from_fn(|| hub.open(business, greedy)).collect();
        assert_eq!(open.len(), 3, "as many as others may still open, and one");
        open.push(hub.open(business, colleague).unwrap());
        assert!(hub.open(business, colleague).is_none());
        open.push(hub.open(business, third).unwrap());
        assert!(hub.open(business, UserId::generate(&clock, &entropy)).is_none());
        assert!(hub.open(other, greedy).is_some());
        drop(open);
        assert!(hub.open(business, greedy).is_some());
        assert!(!hub.has_listeners(other));
    }
}
