//! The owners' tests under way. Each is a call to somebody else's server that a request waits for, so a business begins one
//! only while it has fewer under way than places are left free.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, Mode};

use crate::domain::{Places, Shares};

/// The most that there are.
const PLACES_MAX: usize = 64;

/// Clones share the places.
#[derive(Clone)]
pub(crate) struct TestPlaces {
    all: i64,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Default)]
struct Taken {
    count: usize,
    shares: Shares,
}

/// Kept until it is dropped.
pub(crate) struct TestPlace {
    places: TestPlaces,
    business: BusinessId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// The business's own tests have its share.
    OwnTests,
    Full,
}

impl TestPlaces {
    /// An eighth of what one process sends at once, so that owners' tests leave a small installation its places.
    pub(crate) fn of(concurrency: usize) -> Self {
        let all = (concurrency / 8).clamp(1, PLACES_MAX);
        Self { all: i64::try_from(all).unwrap_or(i64::MAX), taken: Arc::default() }
    }

    pub(crate) fn take(&self, business: BusinessId) -> Result<TestPlace, NoPlace> {
        let mut taken = self.lock();
        let free = taken.shares.free(Places { all: self.all, test: self.all }, taken.count);
        if free.all <= 0 {
            return Err(NoPlace::Full);
        }
        if !taken.shares.may_take(business, Mode::Test, free) {
            return Err(NoPlace::OwnTests);
        }
        taken.shares.add(business, Mode::Test);
        taken.count += 1;
        Ok(TestPlace { places: self.clone(), business })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.shares.remove(self.business, Mode::Test);
        taken.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn one_business_leaves_places_for_others() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let business = || BusinessId::generate(&clock, &entropy);
        let (places, busy) = (TestPlaces::of(512), business());
        let held: Vec<_> = std::iter::from_fn(|| places.take(busy).ok()).collect();
        assert_eq!((held.len(), places.take(busy).err()), (32, Some(NoPlace::OwnTests)));
        let others: Vec<_> = std::iter::from_fn(|| places.take(business()).ok()).collect();
        assert_eq!((others.len(), places.take(business()).err()), (32, Some(NoPlace::Full)));
        drop(held);
        assert!(places.take(busy).is_ok());
    }

    #[test]
    fn a_small_installation_has_few_and_each_has_one() {
        let all = [1, 8, 64, 512, 1_000].map(|concurrency| TestPlaces::of(concurrency).all);
        assert_eq!(all, [1, 1, 8, 64, 64]);
    }
}
