//! Whether the decision about a failed delivery is still the one that somebody saw: a newer one, of a colleague or a program, is
//! not replaced unseen.

use chrono::{DateTime, Utc};

use super::Decided;

/// When the decision was made that somebody saw; `None` if they saw none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenDecision(pub Option<DateTime<Utc>>);

impl SeenDecision {
    pub fn is_outdated(self, present: Option<Decided>) -> bool {
        self.0 != present.map(|decided| decided.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Decision;

    #[test]
    fn another_decision_than_the_seen_one_makes_it_outdated() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        let decided = |seconds| at(seconds).map(|at| Decided { decision: Decision::Return, at });
        for (seen, present, is_outdated) in [
            (None, None, false),
            (at(1), decided(1), false),
            (None, decided(1), true),
            (at(1), decided(2), true),
            // Another attempt has failed since, which removes it.
            (at(1), None, true),
        ] {
            assert_eq!(SeenDecision(seen).is_outdated(present), is_outdated, "{seen:?} {present:?}");
        }
    }
}
