//! The pages that are open on this instance and follow something of their business. Each business has a channel of its
//! own: a busy one cannot make another's pages fall behind, let alone hear of them. One of its people opens a page only
//! while they have fewer open than the business may still open, so that nobody takes them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, UserId};

/// The channels' senders, of the type `S`; a business has one while a page of it is open.
pub(crate) struct OpenPages<S> {
    max_per_business: usize,
    /// The gauge that counts them all.
    gauge: &'static str,
    businesses: Mutex<HashMap<BusinessId, Channel<S>>>,
}

struct Channel<S> {
    sender: S,
    pages: usize,
    by_user: HashMap<UserId, usize>,
}

/// One open page's place, which is free again when this is dropped.
pub(crate) struct Place<S> {
    pages: Arc<OpenPages<S>>,
    business: BusinessId,
    user: UserId,
}

impl<S> OpenPages<S> {
    pub(crate) fn new(max_per_business: usize, gauge: &'static str) -> Arc<Self> {
        metrics::gauge!(gauge).set(0);
        Arc::new(Self { max_per_business, gauge, businesses: Mutex::default() })
    }

    /// A place, and what `subscribe` makes of the business's sender; `None` when the business, or the user, has too many open
    /// already.
    pub(crate) fn open<R>(
        self: &Arc<Self>,
        (business, user): (BusinessId, UserId),
        sender: impl FnOnce() -> S,
        subscribe: impl FnOnce(&S) -> R,
    ) -> Option<(Place<S>, R)> {
        let mut businesses = self.lock();
        let channel = businesses.entry(business).or_insert_with(|| Channel {
            sender: sender(),
            pages: 0,
            by_user: HashMap::new(),
        });
        let own = channel.by_user.get(&user).copied().unwrap_or_default();
        if own >= self.max_per_business - channel.pages {
            return None;
        }
        channel.pages += 1;
        channel.by_user.insert(user, own + 1);
        metrics::gauge!(self.gauge).increment(1.0);
        Some((Place { pages: self.clone(), business, user }, subscribe(&channel.sender)))
    }

    /// Whether a page of this business is open.
    pub(crate) fn has(&self, business: BusinessId) -> bool {
        self.lock().contains_key(&business)
    }

    /// Says something to a business's pages, if any is open.
    pub(crate) fn tell(&self, business: BusinessId, say: impl FnOnce(&S)) {
        if let Some(channel) = self.lock().get(&business) {
            say(&channel.sender);
        }
    }

    pub(crate) fn tell_all(&self, say: impl Fn(&S)) {
        for channel in self.lock().values() {
            say(&channel.sender);
        }
    }

    fn close(&self, business: BusinessId, user: UserId) {
        let mut businesses = self.lock();
        if let Some(channel) = businesses.get_mut(&business) {
            channel.pages -= 1;
            if let Some(own) = channel.by_user.get_mut(&user) {
                *own -= 1;
                if *own == 0 {
                    channel.by_user.remove(&user);
                }
            }
            if channel.pages == 0 {
                businesses.remove(&business);
            }
        }
        metrics::gauge!(self.gauge).decrement(1.0);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BusinessId, Channel<S>>> {
        self.businesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Drop for Place<S> {
    fn drop(&mut self) {
        self.pages.close(self.business, self.user);
    }
}
