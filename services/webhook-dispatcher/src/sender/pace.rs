//! When to look again for what is due. A look costs the same for one delivery as for many; and what waits anyway must not
//! slow down what is new for others.

use std::collections::HashSet;
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

/// What becomes due, and what ends, within this time is looked at together.
const GATHER: Duration = Duration::from_millis(5);
/// While something new goes to endpoints that nothing waits for, looks take this part of the time.
const SHARE: u32 = 5;
/// And each takes no more than this: sending them costs the processor, too, which what is new then waits for.
const A_FEW: usize = 12;
/// New things make looks rarer, and smaller, for this long.
const RECENT: Duration = Duration::from_millis(250);

/// Of one dispatching loop.
pub(super) struct Pace {
    began: Instant,
    ended: Instant,
    /// Whom the latest look found something for.
    waiting: HashSet<EndpointId>,
    /// When something last went to an endpoint that nothing waits for.
    new_at: Option<Instant>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, ended: now, waiting: HashSet::new(), new_at: None }
    }

    /// A look took from then till then, and found something for these.
    pub(super) fn looked(
        &mut self,
        (began, ended): (Instant, Instant),
        found: impl Iterator<Item = EndpointId>,
    ) {
        (self.began, self.ended) = (began, ended);
        self.waiting = found.collect();
    }

    /// Something is sent that was not waiting.
    pub(super) fn express(&mut self, to: EndpointId, now: Instant) {
        if !self.waiting.contains(&to) {
            self.new_at = Some(now);
        }
    }

    /// When it is time for another look. `many_ended` says that a good part of what was under way has ended.
    pub(super) fn next_look(&self, many_ended: bool, now: Instant) -> Instant {
        match (self.gives_way(now), many_ended) {
            (true, _) => self.ended + (self.ended - self.began).max(GATHER) * (SHARE - 1),
            (false, true) => self.ended,
            (false, false) => self.ended + GATHER,
        }
    }

    /// How many the next look may take.
    pub(super) fn most(&self, now: Instant) -> usize {
        if self.gives_way(now) { A_FEW } else { usize::MAX }
    }

    fn gives_way(&self, now: Instant) -> bool {
        let new = self.new_at.is_some_and(|at| now.saturating_duration_since(at) < RECENT);
        new && !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn what_waits_gives_way_to_what_is_new_for_others() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (one, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let began = Instant::now();
        let ended = began + Duration::from_millis(10);
        let mut pace = Pace::new(began);
        pace.looked((began, ended), [one].into_iter());
        let rest = |pace: &Pace, many_ended, now| pace.next_look(many_ended, now) - ended;
        assert_eq!((rest(&pace, false, ended), rest(&pace, true, ended)), (GATHER, Duration::ZERO));
        pace.express(one, ended);
        assert_eq!(rest(&pace, true, ended), Duration::ZERO, "its own");
        pace.express(other, ended);
        let long = Duration::from_millis(40);
        assert_eq!((rest(&pace, false, ended), rest(&pace, true, ended)), (long, long));
        assert_eq!((pace.most(ended), pace.most(ended + RECENT)), (A_FEW, usize::MAX));
        assert_eq!(rest(&pace, true, ended + RECENT), Duration::ZERO, "there is nothing new any more");
        pace.express(other, ended);
        pace.looked((began, ended), std::iter::empty());
        assert_eq!(rest(&pace, true, ended), Duration::ZERO, "nothing waits");
    }
}
