//! How the places for sending are shared: a business may take one only while it holds fewer than are left free. So a single
//! one holds half of them at most, the next one half of what is left, and one that holds none finds room while any is free;
//! as attempts end, they come to hold the same. Accounts that only test are free, so test mode as a whole has a share of its
//! own, and the rest is for live events. An account that was not approved has test orders alone.

use std::collections::HashMap;

use domain::{BusinessId, Mode};

/// As many as an endpoint may have of which nothing is known.
const FEW: i64 = 8;

/// Places: of both modes together, and of test mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub all: i64,
    pub test: i64,
}

impl Places {
    /// Half of them are for live events alone.
    pub(crate) fn of(concurrency: usize) -> Self {
        let all = i64::try_from(concurrency).unwrap_or(i64::MAX);
        Self { all, test: all - all / 2 }
    }

    /// Whether one who holds these may take another while so many are free.
    fn may_take(self, mode: Mode, free: Self) -> bool {
        let of_test = mode == Mode::Live || self.test < free.test;
        self.all < free.all && of_test
    }

    fn change(&mut self, mode: Mode, by: i64) {
        self.all += by;
        if mode == Mode::Test {
            self.test += by;
        }
    }
}

/// Who holds how many.
#[derive(Default)]
pub(crate) struct Shares {
    by_business: HashMap<BusinessId, Places>,
    test: i64,
}

impl Shares {
    pub(crate) fn add(&mut self, business: BusinessId, mode: Mode) {
        self.by_business.entry(business).or_default().change(mode, 1);
        self.test += i64::from(mode == Mode::Test);
    }

    pub(crate) fn remove(&mut self, business: BusinessId, mode: Mode) {
        let Some(held) = self.by_business.get_mut(&business) else { return };
        held.change(mode, -1);
        if held.all == 0 {
            self.by_business.remove(&business);
        }
        self.test -= i64::from(mode == Mode::Test);
    }

    /// What is left of `places` when so many are in hand.
    pub(crate) fn free(&self, places: Places, in_hand: usize) -> Places {
        let all = places.all.saturating_sub(i64::try_from(in_hand).unwrap_or(i64::MAX));
        Places { all, test: (places.test - self.test).min(all) }
    }

    pub(crate) fn may_take(&self, business: BusinessId, mode: Mode, free: Places) -> bool {
        self.by_business.get(&business).copied().unwrap_or_default().may_take(mode, free)
    }

    /// The same for a new delivery, when so many of `places` are in hand. A quarter of them is left to what waits already,
    /// except by a business that holds few: it finds room while others fill their shares.
    pub(crate) fn may_take_new(
        &self,
        business: BusinessId,
        mode: Mode,
        (places, in_hand): (Places, usize),
    ) -> bool {
        let held = self.by_business.get(&business).map_or(0, |held| held.all);
        let Places { all, test } = places;
        let places = if held < FEW { places } else { Places { all: all * 3 / 4, test: test * 3 / 4 } };
        self.may_take(business, mode, self.free(places, in_hand))
    }

    /// The businesses that hold any.
    pub(crate) fn held(&self) -> impl Iterator<Item = (BusinessId, Places)> {
        self.by_business.iter().map(|(business, held)| (*business, *held))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    /// How many each of so many businesses gets that all want as many as they can have, in turns.
    fn fill(businesses: usize, mode: Mode, concurrency: usize) -> (Vec<i64>, Places) {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let ids: Vec<_> = (0..businesses).map(|_| BusinessId::generate(&clock, &entropy)).collect();
        let (mut shares, mut in_hand, places) = (Shares::default(), 0, Places::of(concurrency));
        loop {
            let before = in_hand;
            for id in &ids {
                if shares.may_take(*id, mode, shares.free(places, in_hand)) {
                    shares.add(*id, mode);
                    in_hand += 1;
                }
            }
            if in_hand == before {
                let held = |id| shares.by_business.get(id).map_or(0, |held| held.all);
                return (ids.iter().map(held).collect(), shares.free(places, in_hand));
            }
        }
    }

    #[test]
    fn whatever_others_hold_there_is_room_for_one_who_holds_none() {
        assert_eq!(fill(1, Mode::Live, 512), (vec![256], Places { all: 256, test: 256 }));
        assert_eq!(fill(1, Mode::Test, 512), (vec![128], Places { all: 384, test: 128 }));
        let (held, free) = fill(4, Mode::Test, 512);
        assert!(held.iter().all(|held| (51..=52).contains(held)), "{held:?}");
        assert!(free.test >= 48 && free.all >= 256, "{free:?}");
        let (_, free) = fill(1_000, Mode::Test, 512);
        assert_eq!(free.all, 256, "as many accounts as one likes leave live events their half");
    }

    /// They even out as what is under way ends.
    #[test]
    fn one_after_the_other_takes_half_of_what_is_left() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mut shares, mut in_hand, places) = (Shares::default(), 0, Places::of(64));
        let held = [(); 4].map(|()| {
            let (business, before) = (BusinessId::generate(&clock, &entropy), in_hand);
            while shares.may_take(business, Mode::Test, shares.free(places, in_hand)) {
                shares.add(business, Mode::Test);
                in_hand += 1;
            }
            in_hand - before
        });
        assert_eq!((held, shares.free(places, in_hand)), ([16, 8, 4, 2], Places { all: 34, test: 2 }));
    }

    #[test]
    fn what_is_new_finds_room_where_few_are_held_whatever_others_hold() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (mut shares, places) = (Shares::default(), Places::of(512));
        let [one, other, new] = [(); 3].map(|()| BusinessId::generate(&clock, &entropy));
        (0..120).for_each(|_| shares.add(one, Mode::Test));
        (0..112).for_each(|_| shares.add(other, Mode::Test));
        let mut taken = 0;
        while shares.may_take_new(new, Mode::Test, (places, 232 + taken)) {
            shares.add(new, Mode::Test);
            taken += 1;
        }
        assert_eq!(taken, 8, "a quarter is left to what waits");
        assert!(!shares.may_take_new(other, Mode::Live, (places, 240 + 32)), "it holds its share");
        assert!(shares.may_take(new, Mode::Test, shares.free(places, 240)), "waiting, it may have more");
    }

    #[test]
    fn a_single_place_is_for_whoever_comes() {
        assert_eq!(fill(1, Mode::Test, 1), (vec![1], Places::default()));
        assert_eq!(fill(1, Mode::Live, 1).0, [1]);
    }

    #[test]
    fn places_are_given_back() {
        let business = BusinessId::generate(&Clock::system(), &Entropy::seeded(1));
        let mut shares = Shares::default();
        shares.add(business, Mode::Test);
        shares.add(business, Mode::Live);
        assert_eq!(shares.free(Places::of(8), 2), Places { all: 6, test: 3 });
        shares.remove(business, Mode::Test);
        shares.remove(business, Mode::Live);
        assert_eq!((shares.free(Places::of(8), 0), shares.held().count()), (Places::of(8), 0));
    }
}
