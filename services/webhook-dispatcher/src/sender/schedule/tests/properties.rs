//! Whatever happens, in whatever order.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use strum::VariantArray;

use super::super::*;
use super::{Fixture, limits};
use crate::domain::{Slots, Speed};

const CONCURRENCY: usize = 16;

#[derive(Clone, Copy, Debug)]
enum Step {
    Reserve(usize, Mode),
    Note(usize, Mode),
    Begin(Mode),
    /// The claim finds that many of each endpoint. None: it fails.
    Finish(Mode, Option<i64>),
    Attempted(usize, bool),
    End(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let mode = || prop_oneof![Just(Mode::Live), Just(Mode::Test)];
    let step = prop_oneof![
        3 => (0..12_usize, mode()).prop_map(|(endpoint, mode)| Step::Reserve(endpoint, mode)),
        3 => (0..12_usize, mode()).prop_map(|(endpoint, mode)| Step::Note(endpoint, mode)),
        3 => mode().prop_map(Step::Begin),
        3 => (mode(), prop::option::weighted(0.9, 0..9_i64)).prop_map(|(mode, found)| Step::Finish(mode, found)),
        2 => (0..64_usize, any::<bool>()).prop_map(|(index, succeeded)| Step::Attempted(index, succeeded)),
        3 => (0..64_usize).prop_map(Step::End),
    ];
    prop::collection::vec(step, 1..150)
}

proptest! {
    /// Whatever happens, no limit is exceeded, nothing that is due is forgotten, and all slots are free in the end.
    #[test]
    fn limits_hold_and_nothing_is_forgotten(steps in steps()) {
        let mut test = Fixture::new(limits(CONCURRENCY, 6));
        let businesses = [(); 3].map(|()| test.business());
        let keys = Vec::from_iter((0..12).map(|index| test.key_of(businesses[index % 3])));
        let (mut leases, mut running) = (Vec::<Lease>::new(), HashMap::<bool, Request>::new());
        let mut due = HashSet::new();
        for step in steps {
            match step {
                Step::Reserve(index, mode) => leases.extend(test.reserve(keys[index], mode)),
                Step::Note(index, mode) => {
                    test.note(keys[index], mode);
                    due.insert((keys[index].0, mode as usize));
                }
                Step::Begin(mode) if !running.contains_key(&(mode == Mode::Live)) => {
                    running.extend(test.choose(mode).map(|request| (mode == Mode::Live, request)));
                }
                Step::Finish(mode, found) => {
                    if let Some(request) = running.remove(&(mode == Mode::Live)) {
                        match found {
                            Some(found) => {
                                for one in &request.asked {
                                    due.remove(&(one.ask.endpoint, mode as usize));
                                }
                                leases.extend(test.claimed(&request, found));
                            }
                            None => test.state.not_claimed(&request, test.now),
                        }
                    }
                }
                Step::Attempted(index, succeeded) if !leases.is_empty() => {
                    let lease = leases[index % leases.len()];
                    if succeeded && let Some(held) = test.state.in_flight.received(lease) {
                        test.state.vacate(&held, test.now);
                    }
                }
                Step::End(index) if !leases.is_empty() => {
                    let lease = leases.swap_remove(index % leases.len());
                    test.end(lease);
                }
                _ => {}
            }
            let Slots { all, test: of_test } = test.state.free(Speed::Prompt);
            prop_assert!(all >= 0 && of_test >= 0, "{all} {of_test}");
            prop_assert!(test.state.in_flight.len() <= CONCURRENCY);
            for endpoint in test.state.endpoints.values() {
                prop_assert!((0..=6).contains(&endpoint.in_flight()));
            }
        }
        for request in running.into_values() {
            test.state.not_claimed(&request, test.now);
        }
        leases.into_iter().for_each(|lease| test.end(lease));
        prop_assert!(test.state.is_empty());
        test.pass(300);
        for mode in Mode::VARIANTS {
            let mut asked = HashSet::new();
            for _ in 0..40 {
                if let Some(request) = test.choose(*mode) {
                    asked.extend(request.asked.iter().map(|one| (one.ask.endpoint, *mode as usize)));
                    test.claimed(&request, 0);
                }
            }
            let of_mode = due.iter().filter(|(_, of)| *of == *mode as usize);
            for one in of_mode {
                prop_assert!(asked.contains(one), "an endpoint is forgotten");
            }
        }
    }
}
