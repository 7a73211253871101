//! Claims due deliveries of the endpoints that may have some.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use domain::EndpointId;
use postgres::StoreError;
use tokio::time::Instant;

use super::Sender;
use super::express::ReadyToSend;
use super::loads::Room;
use super::waiting::Key;
use crate::domain::{Slots, Speed};
use crate::store::{self, Asked, ClaimRequest, ClaimedDelivery, LEASE, Lease};

/// A claim asks for no more endpoints than this; the others follow in the next one.
const ASKED_MAX: usize = 512;

/// The result of a claim. What it found is being sent.
#[derive(Default)]
pub(super) struct Claim {
    pub found: Vec<EndpointId>,
    /// Another claim may find more.
    pub more: bool,
    /// When an endpoint with due deliveries may get the next one. The loop is woken when a slot is free.
    pub next_at: Option<Instant>,
}

/// The endpoints to ask for.
#[derive(Default)]
struct Candidates {
    prompt: Vec<Asked>,
    uncertain: Vec<Asked>,
    /// Without a free slot, and how many they use.
    full: Vec<(EndpointId, i64)>,
    /// When the rate limit of another one allows a webhook.
    limited_until: Option<Instant>,
}

impl Sender {
    /// Claims for prompt endpoints first, then for the others: these have fewer slots.
    pub(super) async fn claim(&self, room: usize) -> Result<Claim, StoreError> {
        let now = self.unit.clock.now();
        let snapshot = self.waiting.snapshot(now);
        let Candidates { prompt, uncertain, full, limited_until } = self.candidates(&snapshot.due);
        self.in_flight.wake_when_free(full.into_iter());
        let mut claim = Claim::default();
        for (speed, asked) in [(Speed::Prompt, prompt), (Speed::Uncertain, uncertain)] {
            let left = room.saturating_sub(claim.found.len());
            let part = self.claim_for(speed, &asked, left, (now, snapshot.notes())).await?;
            claim.found.extend(part.found);
            claim.more |= part.more;
        }
        let noted = self.waiting.next_after(now).and_then(|at| (at - now).to_std().ok());
        claim.next_at = limited_until.into_iter().chain(noted.map(|wait| Instant::now() + wait)).min();
        Ok(claim)
    }

    /// Sends at once what it finds, without the result of the other claim.
    async fn claim_for(
        &self,
        speed: Speed,
        asked: &[Asked],
        room: usize,
        (now, notes): (DateTime<Utc>, u64),
    ) -> Result<Claim, StoreError> {
        let (began, slots) = (Instant::now(), Slots::of(self.concurrency));
        let (held, free, seen) = self.in_flight.count_and_watch(speed, slots);
        if asked.is_empty() || room == 0 || free.all <= 0 {
            return Ok(Claim::default());
        }
        let excluded = self.in_flight.excluded_from_claims();
        let request = ClaimRequest {
            now,
            token: i64::from_le_bytes(self.unit.entropy.bytes()),
            room: i64::try_from(room).unwrap_or(i64::MAX),
            per_second: self.loads.per_second(),
            asked,
            held: &held,
            free,
            excluded: &excluded,
        };
        let keys: Vec<Key> = asked.iter().map(|asked| (asked.endpoint, asked.business)).collect();
        let (claimed, served, skipped) = self
            .unit
            .database
            .read(async |conn| {
                let claimed = store::claim(conn, &request).await?;
                let served: HashSet<Key> =
                    claimed.iter().map(|claimed| (claimed.endpoint_id, claimed.business_id)).collect();
                let rest = Vec::from_iter(keys.iter().copied().filter(|key| !served.contains(key)));
                let skipped = store::still_due(conn, &rest, now).await?;
                Ok::<_, StoreError>((claimed, served, skipped.into_iter().collect()))
            })
            .await?;
        metrics::histogram!("webhook_claim_duration_seconds").record(began.elapsed());
        self.waiting.asked((&keys, notes), &served, &skipped, now);
        let more = !served.is_empty() || asked.len() == ASKED_MAX;
        if began.elapsed() > LEASE / 2 {
            // The leases may expire before they are renewed.
            self.release(&Vec::from_iter(claimed.iter().map(lease_of))).await;
            return Ok(Claim { more, ..Claim::default() });
        }
        let ready = self.admit(claimed, speed, (slots, seen)).await;
        let found = ready.iter().map(|(claimed, _)| claimed.endpoint_id).collect();
        self.send_now(ready).await;
        Ok(Claim { found, more, next_at: None })
    }

    fn candidates(&self, due: &[Key]) -> Candidates {
        let in_flight: HashMap<_, _> = self.in_flight.by_endpoint().into_iter().collect();
        let (mut found, now) = (Candidates::default(), Instant::now());
        for (endpoint, business) in due {
            let in_flight = in_flight.get(endpoint).copied().unwrap_or_default();
            match self.loads.room(*endpoint, in_flight, now) {
                Room::Full => found.full.push((*endpoint, in_flight)),
                Room::Later(at) => {
                    found.limited_until = found.limited_until.into_iter().chain([at]).min();
                }
                Room::For(room) => {
                    let asked = match self.loads.speed(*endpoint) {
                        Speed::Prompt => &mut found.prompt,
                        Speed::Uncertain => &mut found.uncertain,
                    };
                    // Endpoints of one speed must not keep those of the other from being asked for.
                    if asked.len() < ASKED_MAX {
                        asked.push(Asked { endpoint: *endpoint, business: *business, room, in_flight });
                    }
                }
            }
        }
        found
    }

    /// Counts claimed deliveries as in flight. Releases those whose slots were taken meanwhile.
    async fn admit(
        &self,
        claimed: Vec<ClaimedDelivery>,
        speed: Speed,
        watched: (Slots, u64),
    ) -> Vec<ReadyToSend> {
        self.loads
            .count_sent(claimed.iter().map(|one| (one.endpoint_id, one.max_per_second)), Instant::now());
        let taken_over = claimed.iter().filter(|one| one.taken_over).count();
        metrics::counter!("webhook_taken_over_total").increment(taken_over as u64);
        let wanted = claimed.iter().map(|one| (lease_of(one), one.endpoint_id, one.mode));
        let guards = self.in_flight.insert_claimed(wanted, speed, watched);
        let (mut ready, mut excess) = (Vec::with_capacity(claimed.len()), Vec::new());
        for (claimed, guard) in claimed.into_iter().zip(guards) {
            match guard {
                Some(guard) => ready.push((claimed, guard)),
                None => excess.push(lease_of(&claimed)),
            }
        }
        self.release(&excess).await;
        ready
    }
}

fn lease_of(claimed: &ClaimedDelivery) -> Lease {
    Lease { delivery: claimed.id, business: claimed.business_id, token: claimed.token }
}
