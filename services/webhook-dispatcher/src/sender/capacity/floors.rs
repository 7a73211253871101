//! Where the look at an endpoint's due deliveries begins. The index keeps the entries of finished deliveries until a vacuum,
//! and a snapshot that is in use, such as that of a backup, keeps them all: each claim would read them again.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::EndpointId;

/// A transaction that commits later may contain deliveries that are due a little earlier.
const SLACK: TimeDelta = TimeDelta::milliseconds(250);
/// More are forgotten: then each is looked at from the beginning once.
const ENDPOINTS_MAX: usize = 10_000;

/// What becomes free below a floor, for instance when the lease of a killed process expires, is found by the scan: it
/// looks at everything, and removes the floors of the endpoints that it finds.
#[derive(Default)]
pub(super) struct Floors(HashMap<EndpointId, DateTime<Utc>>);

impl Floors {
    pub(super) fn of(&self, endpoint: EndpointId) -> Option<DateTime<Utc>> {
        self.0.get(&endpoint).copied()
    }

    /// A claim found the first free delivery of each endpoint due at this time.
    pub(super) fn raise(&mut self, due_since: impl IntoIterator<Item = (EndpointId, DateTime<Utc>)>) {
        for (endpoint, since) in due_since {
            if self.0.len() >= ENDPOINTS_MAX {
                self.0.clear();
            }
            self.0.insert(endpoint, since - SLACK);
        }
    }

    /// These endpoints have deliveries that are due at that time. A transaction that took long to commit may have stored them.
    pub(super) fn lower(&mut self, endpoints: impl IntoIterator<Item = EndpointId>, at: DateTime<Utc>) {
        for endpoint in endpoints {
            if let Some(floor) = self.0.get_mut(&endpoint) {
                *floor = at.min(*floor);
            }
        }
    }

    pub(super) fn forget<'a>(&mut self, endpoints: impl IntoIterator<Item = &'a EndpointId>) {
        for endpoint in endpoints {
            self.0.remove(endpoint);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn a_look_begins_a_little_before_the_first_free_delivery_of_the_last_one() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let [one, other] = [(); 2].map(|()| EndpointId::generate(&clock, &entropy));
        let (mut floors, now) = (Floors::default(), clock.now());
        assert_eq!(floors.of(one), None);
        floors.raise([(one, now), (other, now)]);
        assert_eq!(floors.of(one), Some(now - SLACK));
        let earlier = now - TimeDelta::seconds(1);
        floors.raise([(one, earlier)]);
        assert_eq!(floors.of(one), Some(earlier - SLACK), "an expired lease");
        floors.lower([one, other], now);
        assert_eq!(floors.of(one), Some(earlier - SLACK), "a later delivery");
        let much_earlier = now - TimeDelta::seconds(9);
        floors.lower([one], much_earlier);
        assert_eq!(floors.of(one), Some(much_earlier), "stored by a slow transaction");
        floors.forget([&one]);
        assert_eq!((floors.of(one), floors.of(other)), (None, Some(now - SLACK)));
    }
}
