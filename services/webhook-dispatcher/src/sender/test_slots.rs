//! Limits concurrent connection tests: a request waits for each. A business may start one only while it has fewer tests
//! in flight than slots are free.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{BusinessId, Mode};

use crate::domain::{Kind, Shares, Slots, Speed};

const SLOTS_MAX: usize = 64;
/// All tests count alike.
const KIND: Kind = (Mode::Test, Speed::Prompt);

/// Clones share the slots.
#[derive(Clone)]
pub(crate) struct TestSlots {
    all: i64,
    in_use: Arc<Mutex<InUse>>,
}

#[derive(Default)]
struct InUse {
    count: usize,
    shares: Shares,
}

/// Frees the slot when dropped.
pub(crate) struct TestSlot {
    slots: TestSlots,
    business: BusinessId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTestSlot {
    /// The business has used its share.
    OwnTests,
    Full,
}

impl TestSlots {
    /// An eighth of the concurrency, so that tests leave room for webhooks in a small installation.
    pub(crate) fn of(concurrency: usize) -> Self {
        let all = (concurrency / 8).clamp(1, SLOTS_MAX);
        Self { all: i64::try_from(all).unwrap_or(i64::MAX), in_use: Arc::default() }
    }

    pub(crate) fn reserve(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        let mut in_use = self.lock();
        let free = in_use.shares.free(KIND.1, Slots { all: self.all, test: self.all }, in_use.count);
        if free.all <= 0 {
            return Err(NoTestSlot::Full);
        }
        if !in_use.shares.may_take(business, KIND.0, free) {
            return Err(NoTestSlot::OwnTests);
        }
        in_use.shares.add(business, KIND);
        in_use.count += 1;
        Ok(TestSlot { slots: self.clone(), business })
    }

    fn lock(&self) -> MutexGuard<'_, InUse> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TestSlot {
    fn drop(&mut self) {
        let mut in_use = self.slots.lock();
        in_use.shares.remove(self.business, KIND);
        in_use.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn one_business_leaves_slots_for_others() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let business = || BusinessId::generate(&clock, &entropy);
        let (slots, busy) = (TestSlots::of(512), business());
        let held: Vec<_> = std::iter::from_fn(|| slots.reserve(busy).ok()).collect();
        assert_eq!((held.len(), slots.reserve(busy).err()), (32, Some(NoTestSlot::OwnTests)));
        let others: Vec<_> = std::iter::from_fn(|| slots.reserve(business()).ok()).collect();
        assert_eq!((others.len(), slots.reserve(business()).err()), (32, Some(NoTestSlot::Full)));
        drop(held);
        assert!(slots.reserve(busy).is_ok());
    }

    #[test]
    fn a_small_installation_has_few_and_each_has_one() {
        let all = [1, 8, 64, 512, 1_000].map(|concurrency| TestSlots::of(concurrency).all);
        assert_eq!(all, [1, 1, 8, 64, 64]);
    }
}
