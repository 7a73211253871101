//! Signals to the open pages of a business that its status may have changed. The signal has no content: pages then request
//! the status.
//!
//! Other services announce most changes (orders, money, revoked keys) over the broker. Changes made through this service,
//! such as a new webhook endpoint, are announced by nobody else: this service publishes `portal.changed` for them, without its
//! outbox. All instances consume both, so that no page has to poll.

use std::sync::Arc;

use domain::{BusinessId, UserId};
use tokio::sync::watch;

use crate::live_updates::OpenPages;
use crate::live_updates::channels::{Channels, Subscription};

/// Merges changes that a page has not seen yet into one.
type Sender = watch::Sender<()>;

pub(crate) struct StatusStreams(Arc<Channels<Sender>>);

/// The stream of one open page. Dropping it frees its slot.
pub(crate) struct StatusStream {
    _subscription: Subscription<Sender>,
    receiver: watch::Receiver<()>,
}

impl StatusStreams {
    pub(crate) fn new(max_per_business: usize, open_pages: &OpenPages) -> Self {
        Self(Channels::new(max_per_business, "portal_status_streams", open_pages))
    }

    /// `None` if the business or the user has too many open streams.
    pub(crate) fn open(&self, business: BusinessId, user: UserId) -> Option<StatusStream> {
        let opened = self.0.subscribe((business, user), || Sender::new(()), Sender::subscribe);
        opened.map(|(subscription, receiver)| StatusStream { _subscription: subscription, receiver })
    }

    pub(crate) fn signal(&self, business: BusinessId) {
        self.0.publish(business, signal);
    }

    /// Signals all businesses, after events may have been missed.
    pub(crate) fn signal_all(&self) {
        self.0.publish_to_all(signal);
    }
}

fn signal(sender: &Sender) {
    sender.send_replace(());
}

impl StatusStream {
    /// Waits for the next change. False when there will be none.
    pub(crate) async fn changed(&mut self) -> bool {
        self.receiver.changed().await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[tokio::test]
    async fn a_business_receives_only_its_own_changes_and_streams_are_limited() {
        let streams = StatusStreams::new(1, &OpenPages::default());
        let (clock, entropy) = (Clock::system(), Entropy::seeded(9));
        let business = || BusinessId::generate(&clock, &entropy);
        let (mine, theirs, user) = (business(), business(), UserId::generate(&clock, &entropy));
        let (mut page, mut other) = (streams.open(mine, user).unwrap(), streams.open(theirs, user).unwrap());
        assert!(streams.open(mine, user).is_none());
        streams.signal(mine);
        streams.signal(mine);
        assert!(page.changed().await);
        assert!(!page.receiver.has_changed().unwrap(), "simultaneous changes are merged");
        assert!(!other.receiver.has_changed().unwrap());
        streams.signal_all();
        assert!(page.changed().await && other.changed().await);
        drop(page);
        assert!(streams.open(mine, user).is_some());
    }
}
