//! The owners' tests under way. Each is a call to somebody else's server that a request waits for, so a business begins one
//! only while it has fewer under way than places are left free.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, Mode};

use crate::domain::{Places, Shares};

const PLACES: Places = Places { all: 64, test: 64 };

/// Clones share the places.
#[derive(Clone, Default)]
pub(crate) struct TestPlaces(Arc<Mutex<Taken>>);

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
    pub(crate) fn take(&self, business: BusinessId) -> Result<TestPlace, NoPlace> {
        let mut taken = self.lock();
        let free = taken.shares.free(PLACES, taken.count);
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let (places, busy) = (TestPlaces::default(), business());
        let held: Vec<_> = std::iter::from_fn(|| places.take(busy).ok()).collect();
        assert_eq!((held.len(), places.take(busy).err()), (32, Some(NoPlace::OwnTests)));
        let others: Vec<_> = std::iter::from_fn(|| places.take(business()).ok()).collect();
        assert_eq!((others.len(), places.take(business()).err()), (32, Some(NoPlace::Full)));
        drop(held);
        assert!(places.take(busy).is_ok());
    }
}
