//! Subscriptions of open pages. Each business has its own channel: a busy business cannot delay the pages of others, and no
//! page receives updates of another business.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, UserId};

use crate::live_updates::OpenPages;

/// A business has a channel with a sender of type `S` while at least one of its pages is open.
pub(super) struct Channels<S> {
    max_per_business: usize,
    /// The gauge that counts all subscriptions.
    gauge: &'static str,
    open_pages: OpenPages,
    businesses: Mutex<HashMap<BusinessId, Channel<S>>>,
}

struct Channel<S> {
    sender: S,
    subscriptions: usize,
    by_user: HashMap<UserId, usize>,
}

/// The subscription of one open page. Dropping it frees its slot.
pub(super) struct Subscription<S> {
    channels: Arc<Channels<S>>,
    business: BusinessId,
    user: UserId,
}

impl<S> Channels<S> {
    pub(super) fn new(max_per_business: usize, gauge: &'static str, open_pages: &OpenPages) -> Arc<Self> {
        metrics::gauge!(gauge).set(0);
        let open_pages = open_pages.clone();
        Arc::new(Self { max_per_business, gauge, open_pages, businesses: Mutex::default() })
    }

    /// Subscribes a page, and returns the result of `subscribe` on the business's sender. `None` if a limit is reached. A user
    /// may hold at most as many subscriptions as the business has left, so that one user cannot take all of them.
    pub(super) fn subscribe<R>(
        self: &Arc<Self>,
        (business, user): (BusinessId, UserId),
        sender: impl FnOnce() -> S,
        subscribe: impl FnOnce(&S) -> R,
    ) -> Option<(Subscription<S>, R)> {
        let mut businesses = self.lock();
        let channel = businesses.entry(business).or_insert_with(|| Channel {
            sender: sender(),
            subscriptions: 0,
            by_user: HashMap::new(),
        });
        let own = channel.by_user.get(&user).copied().unwrap_or_default();
        if own >= self.max_per_business - channel.subscriptions {
            return None;
        }
        channel.subscriptions += 1;
        channel.by_user.insert(user, own + 1);
        metrics::gauge!(self.gauge).increment(1.0);
        self.open_pages.add(1);
        Some((Subscription { channels: self.clone(), business, user }, subscribe(&channel.sender)))
    }

    pub(super) fn has_subscribers(&self, business: BusinessId) -> bool {
        self.lock().contains_key(&business)
    }

    /// Calls `send` with the business's sender, if it has subscribers.
    pub(super) fn publish(&self, business: BusinessId, send: impl FnOnce(&S)) {
        if let Some(channel) = self.lock().get(&business) {
            send(&channel.sender);
        }
    }

    pub(super) fn publish_to_all(&self, send: impl Fn(&S)) {
        for channel in self.lock().values() {
            send(&channel.sender);
        }
    }

    fn unsubscribe(&self, business: BusinessId, user: UserId) {
        let mut businesses = self.lock();
        if let Some(channel) = businesses.get_mut(&business) {
            channel.subscriptions -= 1;
            if let Some(own) = channel.by_user.get_mut(&user) {
                *own -= 1;
                if *own == 0 {
                    channel.by_user.remove(&user);
                }
            }
            if channel.subscriptions == 0 {
                businesses.remove(&business);
            }
        }
        metrics::gauge!(self.gauge).decrement(1.0);
        self.open_pages.add(-1);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BusinessId, Channel<S>>> {
        self.businesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Drop for Subscription<S> {
    fn drop(&mut self) {
        self.channels.unsubscribe(self.business, self.user);
    }
}
