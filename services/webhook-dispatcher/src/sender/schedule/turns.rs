//! Whose turn it is in one mode: businesses take turns, and so do the endpoints of a business. An endpoint with a backlog, or a
//! business with many endpoints, delays the others by no more than one turn.

use std::collections::{BTreeSet, HashMap, VecDeque};

use domain::{BusinessId, EndpointId};
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Turns {
    businesses: VecDeque<BusinessId>,
    endpoints: HashMap<BusinessId, VecDeque<EndpointId>>,
    listed: usize,
    /// Endpoints that wait for a time.
    later: BTreeSet<(Instant, EndpointId)>,
}

impl Turns {
    /// How many endpoints wait for their turn.
    pub(super) fn len(&self) -> usize {
        self.listed
    }

    /// The endpoint comes after the others of its business, and a business without endpoints after the other businesses.
    pub(super) fn add(&mut self, business: BusinessId, endpoint: EndpointId) {
        let endpoints = self.endpoints.entry(business).or_default();
        if endpoints.is_empty() {
            self.businesses.push_back(business);
        }
        endpoints.push_back(endpoint);
        self.listed += 1;
    }

    /// Takes out the next endpoint. Its business comes last now.
    pub(super) fn take(&mut self) -> Option<EndpointId> {
        let business = self.businesses.pop_front()?;
        let endpoints = self.endpoints.get_mut(&business)?;
        let endpoint = endpoints.pop_front()?;
        if endpoints.is_empty() {
            self.endpoints.remove(&business);
        } else {
            self.businesses.push_back(business);
        }
        self.listed -= 1;
        Some(endpoint)
    }

    /// True if it is the next.
    pub(super) fn wait(&mut self, endpoint: EndpointId, until: Instant) -> bool {
        self.later.insert((until, endpoint));
        self.next_at() == Some(until)
    }

    pub(super) fn stop_waiting(&mut self, endpoint: EndpointId, until: Instant) {
        self.later.remove(&(until, endpoint));
    }

    /// When the next endpoint has waited long enough.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.later.first().map(|(at, _)| *at)
    }

    /// An endpoint that has waited long enough.
    pub(super) fn waited(&mut self, now: Instant) -> Option<EndpointId> {
        let first = self.later.first().filter(|(at, _)| *at <= now).copied()?;
        self.later.remove(&first);
        Some(first.1)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn businesses_take_turns_and_so_do_their_endpoints() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let [many, one] = [(); 2].map(|()| BusinessId::generate(&clock, &entropy));
        let [first, second, third, only] = [(); 4].map(|()| EndpointId::generate(&clock, &entropy));
        let mut turns = Turns::default();
        for endpoint in [first, second, third] {
            turns.add(many, endpoint);
        }
        turns.add(one, only);
        let mut order = Vec::new();
        for _ in 0..6 {
            let endpoint = turns.take().unwrap();
            turns.add(if endpoint == only { one } else { many }, endpoint);
            order.push(endpoint);
        }
        assert_eq!((order, turns.len()), (vec![first, only, second, only, third, only], 4));
        while turns.take().is_some() {}
        assert_eq!(turns.len(), 0);
    }

    #[test]
    fn endpoints_wait_until_their_times() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let [one, other] = [(); 2].map(|()| EndpointId::generate(&clock, &entropy));
        let (mut turns, now) = (Turns::default(), Instant::now());
        let soon = now + Duration::from_millis(5);
        assert!(turns.wait(one, now + Duration::from_millis(9)) && turns.wait(other, soon));
        assert_eq!((turns.waited(now), turns.waited(soon), turns.waited(soon)), (None, Some(other), None));
        turns.stop_waiting(one, now + Duration::from_millis(9));
        assert_eq!(turns.next_at(), None);
    }
}
