//! Shares the slots for concurrent attempts fairly. A business may take a slot only while it holds fewer than are free:
//! the first takes at most half of them, the next one half of the rest, and one without a slot always finds one while
//! any is free. As attempts end, the shares even out. Test accounts are free of charge, so test mode as a whole has a
//! share of its own, and live events have the rest. Endpoints that may hang together leave a quarter to the others.

use std::collections::HashMap;

use domain::{BusinessId, Mode};

/// The initial slots of one endpoint.
const FEW: i64 = 8;

/// Slots of both modes together, and of test mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    pub all: i64,
    pub test: i64,
}

impl Slots {
    /// Half of them are reserved for live events.
    pub(crate) fn of(concurrency: usize) -> Self {
        let all = i64::try_from(concurrency).unwrap_or(i64::MAX);
        Self { all, test: all - all / 2 }
    }

    /// Whether a business that holds these may take another one.
    fn may_take(self, mode: Mode, free: Self) -> bool {
        let of_test = mode == Mode::Live || self.test < free.test;
        self.all < free.all && of_test
    }

    /// At least one.
    fn three_quarters(self) -> Self {
        Self { all: self.all - self.all / 4, test: self.test - self.test / 4 }
    }

    fn change(&mut self, mode: Mode, by: i64) {
        self.all += by;
        if mode == Mode::Test {
            self.test += by;
        }
    }
}

/// How long an attempt probably occupies its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Speed {
    Prompt,
    /// The endpoint's latest response was slow, or none is known.
    Uncertain,
}

/// Deliveries of a kind share slots.
pub(crate) type Kind = (Mode, Speed);

/// The slots that each business holds.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    by_business: HashMap<BusinessId, Slots>,
    test: i64,
    /// Held for endpoints of uncertain speed.
    uncertain: Slots,
}

impl Shares {
    pub(crate) fn add(&mut self, business: BusinessId, (mode, speed): Kind) {
        self.by_business.entry(business).or_default().change(mode, 1);
        if speed == Speed::Uncertain {
            self.uncertain.change(mode, 1);
        }
        self.test += i64::from(mode == Mode::Test);
    }

    pub(crate) fn remove(&mut self, business: BusinessId, (mode, speed): Kind) {
        let Some(held) = self.by_business.get_mut(&business) else { return };
        held.change(mode, -1);
        if held.all == 0 {
            self.by_business.remove(&business);
        }
        self.test -= i64::from(mode == Mode::Test);
        if speed == Speed::Uncertain {
            self.uncertain.change(mode, -1);
        }
    }

    /// The free slots when this many deliveries are in flight.
    pub(crate) fn free(&self, speed: Speed, slots: Slots, in_flight: usize) -> Slots {
        let all = slots.all.saturating_sub(i64::try_from(in_flight).unwrap_or(i64::MAX));
        let free = Slots { all, test: (slots.test - self.test).min(all) };
        match speed {
            Speed::Prompt => free,
            Speed::Uncertain => {
                let most = slots.three_quarters();
                let all = free.all.min(most.all - self.uncertain.all);
                Slots { all, test: free.test.min(most.test - self.uncertain.test).min(all) }
            }
        }
    }

    pub(crate) fn may_take(&self, business: BusinessId, mode: Mode, free: Slots) -> bool {
        self.by_business.get(&business).copied().unwrap_or_default().may_take(mode, free)
    }

    /// The same for a new delivery. It leaves a quarter of the slots to waiting deliveries, unless its business holds
    /// few: such a business finds a slot even while others fill their shares.
    pub(crate) fn may_take_new(
        &self,
        business: BusinessId,
        (mode, speed): Kind,
        (slots, in_flight): (Slots, usize),
    ) -> bool {
        let held = self.by_business.get(&business).map_or(0, |held| held.all);
        let slots = if held < FEW { slots } else { slots.three_quarters() };
        self.may_take(business, mode, self.free(speed, slots, in_flight))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    /// The slots of each business when all take slots in turn until none can.
    fn fill(businesses: usize, mode: Mode, concurrency: usize) -> (Vec<i64>, Slots) {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let ids: Vec<_> = (0..businesses).map(|_| BusinessId::generate(&clock, &entropy)).collect();
        let (mut shares, mut in_flight, slots) = (Shares::default(), 0, Slots::of(concurrency));
        loop {
            let before = in_flight;
            for id in &ids {
                if shares.may_take(*id, mode, shares.free(Speed::Prompt, slots, in_flight)) {
                    shares.add(*id, (mode, Speed::Prompt));
                    in_flight += 1;
                }
            }
            if in_flight == before {
                let held = |id| shares.by_business.get(id).map_or(0, |held| held.all);
                return (ids.iter().map(held).collect(), shares.free(Speed::Prompt, slots, in_flight));
            }
        }
    }

    #[test]
    fn a_business_without_a_slot_finds_one() {
        assert_eq!(fill(1, Mode::Live, 512), (vec![256], Slots { all: 256, test: 256 }));
        assert_eq!(fill(1, Mode::Test, 512), (vec![128], Slots { all: 384, test: 128 }));
        let (held, free) = fill(4, Mode::Test, 512);
        assert!(held.iter().all(|held| (51..=52).contains(held)), "{held:?}");
        assert!(free.test >= 48 && free.all >= 256, "{free:?}");
        let (_, free) = fill(1_000, Mode::Test, 512);
        assert_eq!(free.all, 256, "any number of test accounts leaves live events their half");
    }

    /// They even out as attempts end.
    #[test]
    fn each_business_takes_half_of_the_rest() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mut shares, mut in_flight, slots) = (Shares::default(), 0, Slots::of(64));
        let held = [(); 4].map(|()| {
            let (business, before) = (BusinessId::generate(&clock, &entropy), in_flight);
            while shares.may_take(business, Mode::Test, shares.free(Speed::Prompt, slots, in_flight)) {
                shares.add(business, (Mode::Test, Speed::Prompt));
                in_flight += 1;
            }
            in_flight - before
        });
        assert_eq!(
            (held, shares.free(Speed::Prompt, slots, in_flight)),
            ([16, 8, 4, 2], Slots { all: 34, test: 2 })
        );
    }

    #[test]
    fn a_new_delivery_of_a_business_with_few_slots_finds_one() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mut shares, slots) = (Shares::default(), Slots::of(512));
        let [one, other, new] = [(); 3].map(|()| BusinessId::generate(&clock, &entropy));
        (0..120).for_each(|_| shares.add(one, (Mode::Test, Speed::Prompt)));
        (0..112).for_each(|_| shares.add(other, (Mode::Test, Speed::Prompt)));
        let mut taken = 0;
        while shares.may_take_new(new, (Mode::Test, Speed::Prompt), (slots, 232 + taken)) {
            shares.add(new, (Mode::Test, Speed::Prompt));
            taken += 1;
        }
        assert_eq!(taken, 8, "a quarter is left to waiting deliveries");
        assert!(
            !shares.may_take_new(other, (Mode::Live, Speed::Prompt), (slots, 240 + 32)),
            "it has used its share"
        );
        assert!(
            shares.may_take(new, Mode::Test, shares.free(Speed::Prompt, slots, 240)),
            "a waiting delivery may have more"
        );
    }

    #[test]
    fn a_single_slot_is_for_any_business() {
        assert_eq!(fill(1, Mode::Test, 1), (vec![1], Slots::default()));
        assert_eq!(fill(1, Mode::Live, 1).0, [1]);
    }

    #[test]
    fn slots_are_freed() {
        let business = BusinessId::generate(&Clock::system(), &Entropy::seeded(1));
        let mut shares = Shares::default();
        shares.add(business, (Mode::Test, Speed::Uncertain));
        shares.add(business, (Mode::Live, Speed::Prompt));
        assert_eq!(shares.free(Speed::Prompt, Slots::of(8), 2), Slots { all: 6, test: 3 });
        shares.remove(business, (Mode::Test, Speed::Uncertain));
        shares.remove(business, (Mode::Live, Speed::Prompt));
        assert_eq!(shares.free(Speed::Prompt, Slots::of(8), 0), Slots::of(8));
        assert!(shares.by_business.is_empty());
    }

    #[test]
    fn endpoints_that_may_hang_leave_a_quarter_to_the_others() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mut shares, mut in_flight, slots) = (Shares::default(), 0, Slots::of(512));
        for mode in [Mode::Test, Mode::Live] {
            // Each comes alone and takes all it can, until nothing is left.
            for _ in 0..1_000 {
                let business = BusinessId::generate(&clock, &entropy);
                while shares.may_take(business, mode, shares.free(Speed::Uncertain, slots, in_flight)) {
                    shares.add(business, (mode, Speed::Uncertain));
                    in_flight += 1;
                }
            }
        }
        assert_eq!(shares.free(Speed::Uncertain, slots, in_flight), Slots::default());
        assert_eq!(shares.free(Speed::Prompt, slots, in_flight), Slots { all: 128, test: 64 });
        let other = BusinessId::generate(&clock, &entropy);
        assert!(shares.may_take_new(other, (Mode::Test, Speed::Prompt), (slots, in_flight)));
        assert!(!shares.may_take_new(other, (Mode::Live, Speed::Uncertain), (slots, in_flight)));
    }
}
