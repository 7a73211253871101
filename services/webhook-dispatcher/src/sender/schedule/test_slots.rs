//! Limits concurrent connection tests: a request waits for each. A business may start one only while it has fewer tests
//! in flight than slots are free.

use domain::{BusinessId, Mode};

use crate::domain::{Kind, Shares, Slots, Speed};

const SLOTS_MAX: usize = 64;
/// All tests count alike.
const KIND: Kind = (Mode::Test, Speed::Prompt);

#[derive(Debug)]
pub(super) struct TestSlots {
    all: i64,
    in_use: usize,
    shares: Shares,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTestSlot {
    /// The business has used its share.
    OwnTests,
    Full,
}

impl TestSlots {
    /// An eighth of the concurrency, so that tests leave room for webhooks in a small installation.
    pub(super) fn of(concurrency: usize) -> Self {
        let all = (concurrency / 8).clamp(1, SLOTS_MAX);
        Self { all: i64::try_from(all).unwrap_or(i64::MAX), in_use: 0, shares: Shares::default() }
    }

    pub(super) fn reserve(&mut self, business: BusinessId) -> Result<(), NoTestSlot> {
        let free = self.shares.free(KIND.1, Slots { all: self.all, test: self.all }, self.in_use);
        if free.all <= 0 {
            return Err(NoTestSlot::Full);
        }
        if !self.shares.may_take(business, KIND.0, free) {
            return Err(NoTestSlot::OwnTests);
        }
        self.shares.add(business, KIND);
        self.in_use += 1;
        Ok(())
    }

    pub(super) fn free(&mut self, business: BusinessId) {
        self.shares.remove(business, KIND);
        self.in_use -= 1;
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
        let (mut slots, busy) = (TestSlots::of(512), business());
        let held = std::iter::from_fn(|| slots.reserve(busy).ok()).count();
        assert_eq!((held, slots.reserve(busy).err()), (32, Some(NoTestSlot::OwnTests)));
        let others = std::iter::from_fn(|| slots.reserve(business()).ok()).count();
        assert_eq!((others, slots.reserve(business()).err()), (32, Some(NoTestSlot::Full)));
        (0..held).for_each(|_| slots.free(busy));
        assert!(slots.reserve(busy).is_ok());
    }

    #[test]
    fn a_small_installation_has_few_and_each_has_one() {
        let all = [1, 8, 64, 512, 1_000].map(|concurrency| TestSlots::of(concurrency).all);
        assert_eq!(all, [1, 1, 8, 64, 64]);
    }
}
