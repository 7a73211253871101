//! When to claim again, and how much. A claim costs about the same for one delivery as for many, and waiting deliveries
//! must not slow down new ones of other endpoints.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::EndpointId;
use tokio::time::Instant;

/// One claim covers everything that becomes due, or ends, within this time.
const GATHER: Duration = Duration::from_millis(5);
/// While new webhooks go to other endpoints, claims use one part in this many of the time.
const CLAIM_SHARE: u32 = 5;
/// And each claim takes no more than this: sending them uses the processor, too.
const CLAIM_MAX_WHILE_NEW: usize = 12;
/// A new webhook makes claims rarer and smaller for this long.
const RECENT: Duration = Duration::from_millis(250);

/// The pace of one dispatch loop.
pub(super) struct Pace {
    /// The latest claim.
    began: Instant,
    ended: Instant,
    /// The endpoints of the deliveries that it found.
    waiting: HashSet<EndpointId>,
    /// When a new webhook last went to an endpoint without waiting ones.
    new_at: Option<Instant>,
    /// The latest new webhook of each endpoint. Whether the endpoint has waiting ones is known after the claim that runs.
    sent: HashMap<EndpointId, Instant>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, ended: now, waiting: HashSet::new(), new_at: None, sent: HashMap::new() }
    }

    /// A claim took this long and found deliveries for these endpoints.
    pub(super) fn claimed(
        &mut self,
        (began, ended): (Instant, Instant),
        found: impl Iterator<Item = EndpointId>,
    ) {
        (self.began, self.ended) = (began, ended);
        self.waiting = found.collect();
    }

    /// A new webhook goes to this endpoint.
    pub(super) fn sent_new(&mut self, endpoint: EndpointId, at: Instant) {
        self.sent.insert(endpoint, at);
    }

    fn sort_out_new(&mut self) {
        let others = self.sent.drain().filter(|(endpoint, _)| !self.waiting.contains(endpoint));
        self.new_at = others.map(|(_, at)| at).max().max(self.new_at);
    }

    /// When the next claim is due. `many_ended`: a quarter of the attempts in flight have ended.
    pub(super) fn next_claim(&mut self, many_ended: bool, now: Instant) -> Instant {
        match (self.yields(now), many_ended) {
            (true, _) => self.ended + (self.ended - self.began).max(GATHER) * (CLAIM_SHARE - 1),
            (false, true) => self.ended,
            (false, false) => self.ended + GATHER,
        }
    }

    /// How many deliveries the next claim may take.
    pub(super) fn max_claim(&mut self, now: Instant) -> usize {
        if self.yields(now) { CLAIM_MAX_WHILE_NEW } else { usize::MAX }
    }

    /// Whether waiting deliveries yield to new ones.
    fn yields(&mut self, now: Instant) -> bool {
        self.sort_out_new();
        let new = self.new_at.is_some_and(|at| now.saturating_duration_since(at) < RECENT);
        new && !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn waiting_deliveries_yield_to_new_ones_of_other_endpoints() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let (one, other) = (EndpointId::generate(&clock, &entropy), EndpointId::generate(&clock, &entropy));
        let began = Instant::now();
        let ended = began + Duration::from_millis(10);
        let mut pace = Pace::new(began);
        pace.claimed((began, ended), [one].into_iter());
        let rest = |pace: &mut Pace, many_ended, now| pace.next_claim(many_ended, now) - ended;
        assert_eq!((rest(&mut pace, false, ended), rest(&mut pace, true, ended)), (GATHER, Duration::ZERO));
        pace.sent_new(one, ended);
        assert_eq!(rest(&mut pace, true, ended), Duration::ZERO, "its own endpoint");
        pace.sent_new(other, ended);
        let long = Duration::from_millis(40);
        assert_eq!((rest(&mut pace, false, ended), rest(&mut pace, true, ended)), (long, long));
        assert_eq!(
            (pace.max_claim(ended), pace.max_claim(ended + RECENT)),
            (CLAIM_MAX_WHILE_NEW, usize::MAX)
        );
        assert_eq!(rest(&mut pace, true, ended + RECENT), Duration::ZERO, "no new webhook is recent");
        pace.sent_new(other, ended);
        pace.claimed((began, ended), std::iter::empty());
        assert_eq!(rest(&mut pace, true, ended), Duration::ZERO, "no delivery waits");
    }
}
