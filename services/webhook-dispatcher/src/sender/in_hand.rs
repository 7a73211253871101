//! What this process is sending at this moment.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use tokio::sync::Notify;

use crate::domain::{Places, Shares};
use crate::store::Lease;

/// How long a lease runs unless it is renewed. Renewed every quarter of it while the attempt lasts, so that a process that
/// dies is succeeded within seconds, and a slow endpoint is not called twice.
pub(crate) const LEASE: Duration = Duration::from_secs(4);
/// So many may have been received without this being written yet; they are sent again when the process dies.
const UNWRITTEN_MAX: usize = 64;
/// When this part of all places was given back, a business that has its share may have more of them.
const ROOM_PART: i64 = 16;

/// The deliveries under way, with their leases. Clones share it.
#[derive(Clone)]
pub(crate) struct InHand {
    all: Arc<Mutex<All>>,
    /// Rung when one that had no place left has one: an endpoint, a business, or test mode.
    bell: Arc<Notify>,
}

#[derive(Default)]
struct All {
    held: HashMap<WebhookDeliveryId, Held>,
    by_endpoint: HashMap<EndpointId, i64>,
    shares: Shares,
    /// Of those held, how many have been received.
    unwritten: usize,
    /// Those that had no place left at the latest look at what is due.
    full: HashSet<EndpointId>,
    full_businesses: HashSet<(BusinessId, Mode)>,
    test_is_full: bool,
    /// How many more are to end, whose ever, until a business that has its share may have more; none when there is no such
    /// business, or it was rung for.
    ends_awaited: Option<i64>,
    /// When the leases of all that was in hand were last extended.
    renewed_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Held {
    endpoint: EndpointId,
    mode: Mode,
    lease: Lease,
    /// Its endpoint has not answered yet.
    under_way: bool,
}

/// Keeps a delivery in hand until it is dropped, unless it was taken anew meanwhile.
pub(crate) struct Hold {
    in_hand: InHand,
    lease: Lease,
}

impl Hold {
    pub(crate) fn lease(&self) -> Lease {
        self.lease
    }
}

impl InHand {
    pub(crate) fn new(bell: Arc<Notify>) -> Self {
        Self { all: Arc::default(), bell }
    }

    pub(crate) fn take(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> Hold {
        self.lock().insert(lease, endpoint, mode);
        Hold { in_hand: self.clone(), lease }
    }

    /// The same for a new delivery, unless so many are in hand already of this endpoint, or its business has its share.
    pub(crate) fn take_within(
        &self,
        (of_endpoint, places): (i64, Places),
        lease: Lease,
        endpoint: EndpointId,
        mode: Mode,
    ) -> Option<Hold> {
        let mut all = self.lock();
        let busy = all.by_endpoint.get(&endpoint).copied().unwrap_or_default();
        if busy >= of_endpoint || !all.shares.may_take_new(lease.business, mode, (places, all.held.len())) {
            return None;
        }
        all.insert(lease, endpoint, mode);
        Some(Hold { in_hand: self.clone(), lease })
    }

    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.lock().held.values().map(|held| held.lease).collect()
    }

    /// To be called when all leases that were held at that moment have been extended.
    pub(crate) fn renewed(&self, at: Instant) {
        self.lock().renewed_at = Some(at);
    }

    /// What is in hand while its lease may have run out: the database was away for longer than a lease. Otherwise the
    /// leases themselves keep others, and us, from taking it again.
    pub(crate) fn lapsed(&self) -> Vec<WebhookDeliveryId> {
        let all = self.lock();
        let extended = all.renewed_at.is_some_and(|at| at.elapsed() < LEASE);
        if extended { Vec::new() } else { all.held.keys().copied().collect() }
    }

    /// How many are under way to each endpoint.
    pub(crate) fn by_endpoint(&self) -> Vec<(EndpointId, i64)> {
        self.lock().by_endpoint.iter().map(|(endpoint, count)| (*endpoint, *count)).collect()
    }

    /// Rings as soon as one of these endpoints, which had so many under way, has fewer.
    pub(crate) fn await_place(&self, full: impl Iterator<Item = (EndpointId, i64)>) {
        let mut all = self.lock();
        all.full.clear();
        for (endpoint, under_way) in full {
            if all.by_endpoint.get(&endpoint).copied().unwrap_or_default() < under_way {
                self.bell.notify_one();
            } else {
                all.full.insert(endpoint);
            }
        }
    }

    /// What each business holds, and what is left of these. From then on it rings as soon as one that has its share holds
    /// less, and once when others have left more room for it.
    pub(crate) fn shares(&self, places: Places) -> (Vec<(BusinessId, Places)>, Places) {
        let mut all = self.lock();
        let free = all.shares.free(places, all.held.len());
        let held: Vec<_> = all.shares.held().collect();
        let full = |(business, _): &(BusinessId, Places)| {
            let full = |mode: &Mode| !all.shares.may_take(*business, *mode, free);
            [Mode::Live, Mode::Test]
                .into_iter()
                .filter(full)
                .map(|mode| (*business, mode))
                .collect::<Vec<_>>()
        };
        let full_businesses = held.iter().flat_map(full).collect();
        all.full_businesses = full_businesses;
        all.ends_awaited = (!all.full_businesses.is_empty()).then(|| (places.all / ROOM_PART).max(1));
        all.test_is_full = free.test <= 0;
        (held, free)
    }

    /// Whether it waits for a place: its endpoint, its business, or test mode as a whole has none left.
    pub(crate) fn is_full(&self, endpoint: EndpointId, business: BusinessId, mode: Mode) -> bool {
        let all = self.lock();
        all.full.contains(&endpoint)
            || all.full_businesses.contains(&(business, mode))
            || (mode == Mode::Test && all.test_is_full)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().held.len()
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn insert(&mut self, lease: Lease, endpoint: EndpointId, mode: Mode) {
        // Taken anew with another token while it is in hand: it counts once.
        if let Some(Held { lease: before, .. }) = self.held.get(&lease.delivery).copied() {
            self.remove(before);
        }
        self.held.insert(lease.delivery, Held { endpoint, mode, lease, under_way: true });
        self.shares.add(lease.business, mode);
        *self.by_endpoint.entry(endpoint).or_default() += 1;
    }

    /// As [`All::leave_endpoint`].
    fn remove(&mut self, lease: Lease) -> bool {
        if !self.is_held(lease) {
            return false;
        }
        let awaited = self.leave_endpoint(lease);
        if self.held.remove(&lease.delivery).is_some() {
            self.unwritten -= 1;
        }
        awaited
    }

    fn received(&mut self, lease: Lease) -> bool {
        self.unwritten < UNWRITTEN_MAX && self.is_held(lease) && self.leave_endpoint(lease)
    }

    /// Not once it was taken anew: what an earlier hold says is not of the later one.
    fn is_held(&self, lease: Lease) -> bool {
        self.held.get(&lease.delivery).is_some_and(|held| held.lease.token == lease.token)
    }

    /// From now on it is unwritten. True when somebody waits for its place.
    fn leave_endpoint(&mut self, lease: Lease) -> bool {
        let Some(held) = self.held.get_mut(&lease.delivery) else { return false };
        if !std::mem::take(&mut held.under_way) {
            return false;
        }
        self.unwritten += 1;
        if let Some(count) = self.by_endpoint.get_mut(&held.endpoint) {
            *count -= 1;
            if *count == 0 {
                self.by_endpoint.remove(&held.endpoint);
            }
        }
        let (business, mode) = (held.lease.business, held.mode);
        self.shares.remove(business, mode);
        let of_business = [Mode::Live, Mode::Test].map(|mode| self.full_businesses.remove(&(business, mode)));
        let of_test = mode == Mode::Test && std::mem::take(&mut self.test_is_full);
        let awaited = self.full.remove(&held.endpoint) || of_business.contains(&true) || of_test;
        self.leaves_room() || awaited
    }

    /// True when the last of the ends that were waited for has come.
    fn leaves_room(&mut self) -> bool {
        self.ends_awaited = self.ends_awaited.map(|left| left - 1);
        self.ends_awaited.take_if(|left| *left <= 0).is_some()
    }
}

impl Hold {
    /// The endpoint has it, and may be sent another. The delivery stays in hand until its outcome is written.
    pub(crate) fn received(&self) {
        if self.in_hand.lock().received(self.lease) {
            self.in_hand.bell.notify_one();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.in_hand.lock().remove(self.lease) {
            self.in_hand.bell.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{BusinessId, Clock, Entropy};
    use futures_util::FutureExt;

    use super::*;

    fn lease(clock: &Clock, entropy: &Entropy) -> Lease {
        let (delivery, business) =
            (WebhookDeliveryId::generate(clock, entropy), BusinessId::generate(clock, entropy));
        Lease { delivery, business, token: 1 }
    }

    #[test]
    fn a_place_that_somebody_waits_for_rings_when_it_is_free() {
        let (clock, entropy, bell) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
        let in_hand = InHand::new(bell.clone());
        let endpoint = EndpointId::generate(&clock, &entropy);
        let take = || in_hand.take(lease(&clock, &entropy), endpoint, Mode::Live);
        let rung = || bell.notified().now_or_never().is_some();
        let (one, other, third) = (take(), take(), take());
        assert_eq!(in_hand.by_endpoint(), [(endpoint, 3)]);

        one.received();
        assert_eq!((in_hand.by_endpoint(), in_hand.len(), rung()), (vec![(endpoint, 2)], 3, false));
        in_hand.await_place([(endpoint, 3)].into_iter());
        assert!(rung(), "it was free before anybody waited");

        in_hand.await_place([(endpoint, 2)].into_iter());
        assert!(!rung());
        other.received();
        assert!(rung());
        drop((one, other));
        assert_eq!((in_hand.by_endpoint(), in_hand.len(), rung()), (vec![(endpoint, 1)], 1, false));

        in_hand.await_place([(endpoint, 1)].into_iter());
        drop(third);
        assert!(rung(), "a failure gives its place back, too");
        assert_eq!((in_hand.by_endpoint(), in_hand.len()), (Vec::new(), 0));
    }

    #[test]
    fn the_end_of_an_earlier_hold_is_not_the_end_of_the_later_one() {
        let (clock, entropy, in_hand) = (Clock::system(), Entropy::seeded(1), InHand::new(Arc::default()));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let first_lease = lease(&clock, &entropy);
        let second_lease = Lease { token: 2, ..first_lease };
        let first = in_hand.take(first_lease, endpoint, Mode::Live);
        let second = in_hand.take(second_lease, endpoint, Mode::Live);
        first.received();
        drop(first);
        let tokens = || in_hand.leases().iter().map(|lease| lease.token).collect::<Vec<_>>();
        assert_eq!((tokens(), in_hand.by_endpoint(), in_hand.len()), (vec![2], vec![(endpoint, 1)], 1));
        drop(second);
        assert_eq!((tokens(), in_hand.by_endpoint(), in_hand.len()), (Vec::new(), Vec::new(), 0));
        assert_eq!(in_hand.lock().unwritten, 0);
    }

    #[test]
    fn what_is_received_and_not_written_is_bounded() {
        let (clock, entropy, in_hand) = (Clock::system(), Entropy::seeded(1), InHand::new(Arc::default()));
        let endpoint = EndpointId::generate(&clock, &entropy);
        let take = |_| in_hand.take(lease(&clock, &entropy), endpoint, Mode::Live);
        let mut holds: Vec<Hold> = (0..UNWRITTEN_MAX + 2).map(take).collect();
        holds.iter().for_each(Hold::received);
        assert_eq!(in_hand.by_endpoint(), [(endpoint, 2)], "the last two keep their places");
        holds.remove(0);
        holds.iter().for_each(Hold::received);
        assert_eq!((in_hand.by_endpoint(), in_hand.len()), (vec![(endpoint, 1)], UNWRITTEN_MAX + 1));
    }

    #[test]
    fn a_business_that_has_its_share_rings_when_it_holds_less() {
        let (clock, entropy, bell) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
        let in_hand = InHand::new(bell.clone());
        let endpoint = EndpointId::generate(&clock, &entropy);
        let first = lease(&clock, &entropy);
        let business = first.business;
        let take = |mode| in_hand.take(Lease { business, ..lease(&clock, &entropy) }, endpoint, mode);
        let rung = || bell.notified().now_or_never().is_some();
        let holds = [take(Mode::Test), take(Mode::Live)];
        let (held, free) = in_hand.shares(Places { all: 8, test: 2 });
        assert_eq!((held, free), (vec![(business, Places { all: 2, test: 1 })], Places { all: 6, test: 1 }));
        assert!(in_hand.is_full(endpoint, business, Mode::Test));
        assert!(!in_hand.is_full(endpoint, business, Mode::Live));
        drop(holds);
        assert!(rung());
        assert!(!in_hand.is_full(endpoint, business, Mode::Test));
    }

    #[test]
    fn a_business_that_has_its_share_rings_once_when_others_leave_room() {
        let (clock, entropy, bell) = (Clock::system(), Entropy::seeded(1), Arc::new(Notify::new()));
        let in_hand = InHand::new(bell.clone());
        let endpoint = EndpointId::generate(&clock, &entropy);
        let take =
            |business| in_hand.take(Lease { business, ..lease(&clock, &entropy) }, endpoint, Mode::Live);
        let [busy, other] = [(); 2].map(|()| BusinessId::generate(&clock, &entropy));
        let rung = || bell.notified().now_or_never().is_some();
        let _held = [(); 20].map(|()| take(busy));
        let mut others: Vec<Hold> = (0..4).map(|_| take(other)).collect();
        in_hand.shares(Places { all: 32, test: 16 });
        assert!(in_hand.is_full(endpoint, busy, Mode::Live) && !in_hand.is_full(endpoint, other, Mode::Live));
        let rings: Vec<bool> = (0..4)
            .map(|_| {
                others.pop();
                rung()
            })
            .collect();
        assert_eq!(rings, [false, true, false, false]);
    }
}
