//! That something changed which a business's overview shows, told to whichever of its pages are open on this instance.
//! What it was is not told: pages ask for the status again, which knows.
//!
//! Two ways lead here. What other services announce (orders, money, keys that were revoked) comes over the broker, to every
//! instance, as it does for the stream of orders. What a page itself changed through this service, a webhook endpoint or an
//! API key for example, is announced by nobody, since nobody else needs it: so this service says `portal.changed` through
//! its own outbox. Each instance hears it, too, whichever of them served the change, and no instance has to ask a database
//! or a peer over and over for pages that merely stand open.

use std::sync::Arc;

use domain::{BusinessId, UserId};
use tokio::sync::watch;

use crate::open_pages::{OpenPages, Place};

/// Only that it changes counts: what comes while a page is told of the change before is one change.
type Sender = watch::Sender<()>;

pub(crate) struct StatusChanges(Arc<OpenPages<Sender>>);

/// One open page. Closing it frees its place.
pub(crate) struct StatusStream {
    _place: Place<Sender>,
    receiver: watch::Receiver<()>,
}

impl StatusChanges {
    /// With at most `streams_max` open pages per business.
    pub(crate) fn new(streams_max: usize) -> Self {
        Self(OpenPages::new(streams_max, "portal_status_streams"))
    }

    /// `None` when the business or the user has too many open already.
    pub(crate) fn open(&self, business: BusinessId, user: UserId) -> Option<StatusStream> {
        let opened = self.0.open((business, user), || Sender::new(()), Sender::subscribe);
        opened.map(|(place, receiver)| StatusStream { _place: place, receiver })
    }

    /// Something may have changed for a business.
    pub(crate) fn note(&self, business: BusinessId) {
        self.0.tell(business, note);
    }

    /// Something may have changed for anybody: what happened meanwhile was not heard.
    pub(crate) fn note_all(&self) {
        self.0.tell_all(note);
    }
}

fn note(sender: &Sender) {
    sender.send_replace(());
}

impl StatusStream {
    /// Waits for the next change; those that came while nobody waited count as one. False when there will be none.
    pub(crate) async fn changed(&mut self) -> bool {
        self.receiver.changed().await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[tokio::test]
    async fn a_business_hears_of_its_own_changes_and_pages_are_bounded() {
        let hub = StatusChanges::new(1);
        let (clock, entropy) = (Clock::system(), Entropy::seeded(9));
        let business = || BusinessId::generate(&clock, &entropy);
        let (mine, theirs, user) = (business(), business(), UserId::generate(&clock, &entropy));
        let (mut page, mut other) = (hub.open(mine, user).unwrap(), hub.open(theirs, user).unwrap());
        assert!(hub.open(mine, user).is_none());
        hub.note(mine);
        hub.note(mine);
        assert!(page.changed().await);
        assert!(!page.receiver.has_changed().unwrap(), "two at once are one");
        assert!(!other.receiver.has_changed().unwrap());
        hub.note_all();
        assert!(page.changed().await && other.changed().await);
        drop(page);
        assert!(hub.open(mine, user).is_some());
    }
}
