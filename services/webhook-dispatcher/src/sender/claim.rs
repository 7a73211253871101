//! Claims due deliveries of the endpoints that may have some.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::EndpointId;
use postgres::StoreError;
use tokio::time::Instant;

use super::Sender;
use super::capacity::{Found, Key, Page, Plan};
use super::express::ReadyToSend;
use crate::store::{self, ClaimRequest, Claimed, ClaimedDelivery, LEASE, Lease};

/// A business that holds as many slots as are free is considered again after this time. A freed slot of its own wakes the
/// loop earlier.
const BUSINESS_FULL: Duration = Duration::from_millis(100);

/// A look without a statement must not follow another at once, or the loop would keep its thread busy.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// The result of a claim. What it found is being sent.
#[derive(Default)]
pub(super) struct Claim {
    pub found: Vec<EndpointId>,
    /// Another claim may find more.
    pub more: bool,
    /// When an endpoint with due deliveries may get the next one. The loop is woken when a slot is free.
    pub next_at: Option<Instant>,
}

impl Sender {
    /// Claims for endpoints of one speed and then for those of the other. The first leave a quarter to the second.
    pub(super) async fn claim(self: &Arc<Self>, room: usize) -> Result<Claim, StoreError> {
        let now = self.unit.clock.now();
        let due = self.capacity.due(room, now);
        let mut claim = Claim::default();
        let [_, second] = &due.pages;
        let of_first = if second.asked.is_empty() { room } else { room - room / 4 };
        for (page, most) in due.pages.iter().zip([of_first, room]) {
            let left = most.saturating_sub(claim.found.len());
            let part = self.claim_for((page, due.notes), left, now).await?;
            claim.found.extend(part.found);
            claim.more |= part.more;
        }
        let (instant, time) = (Instant::now(), self.unit.clock.now());
        let noted = self.capacity.next_noted(now).map(|at| (at - time).to_std().unwrap_or_default());
        let business = due.is_business_full.then_some(BUSINESS_FULL);
        let waits = noted.into_iter().chain(business).map(|wait| instant + wait);
        let next_at = due.limited_until.into_iter().chain(waits).min();
        claim.next_at = next_at.map(|at| at.max(instant + LOOK_PAUSE));
        Ok(claim)
    }

    /// Sends at once what it finds, without the result of the other claim.
    async fn claim_for(
        self: &Arc<Self>,
        (page, notes): (&Page, u64),
        room: usize,
        now: DateTime<Utc>,
    ) -> Result<Claim, StoreError> {
        let asked = page.asked.as_slice();
        let (began, plan) = (Instant::now(), self.capacity.plan(page.speed));
        if asked.is_empty() || room == 0 || plan.free.all <= 0 {
            // New deliveries, or outcomes that are not written yet, may have taken the last slots since the room was
            // counted.
            let more = self.capacity.room(began) == 0;
            return Ok(Claim { more, ..Claim::default() });
        }
        let request = ClaimRequest {
            now,
            token: i64::from_le_bytes(self.unit.entropy.bytes()),
            room: i64::try_from(room).unwrap_or(i64::MAX),
            per_second: plan.per_second,
            instances: plan.instances,
            asked,
            held: &plan.held,
            free: plan.free,
            excluded: &plan.excluded,
        };
        let (Claimed { deliveries: claimed, due_since }, served, skipped) = self
            .unit
            .database
            .read(async |conn| {
                let claimed = store::claim(conn, &request).await?;
                let key = |claimed: &ClaimedDelivery| (claimed.endpoint_id, claimed.business_id);
                let served: HashSet<Key> = claimed.deliveries.iter().map(key).collect();
                let rest = asked.iter().filter(|asked| !served.contains(&asked.key()));
                let skipped = store::still_due(conn, &Vec::from_iter(rest), now).await?;
                Ok::<_, StoreError>((claimed, served, skipped.into_iter().collect()))
            })
            .await?;
        metrics::histogram!("webhook_claim_duration_seconds").record(began.elapsed());
        self.capacity.asked((page, notes), (&served, &skipped), now);
        self.capacity.looked(due_since, notes);
        let more = !served.is_empty() || page.is_full;
        if began.elapsed() > LEASE / 2 {
            // The leases may expire before they are renewed.
            self.release(&Vec::from_iter(claimed.iter().map(lease_of))).await;
            return Ok(Claim { more, ..Claim::default() });
        }
        let ready = self.admit(claimed, &plan).await;
        let found = ready.iter().map(|(claimed, _)| claimed.endpoint_id).collect();
        self.send_now(ready).await;
        Ok(Claim { found, more, next_at: None })
    }

    /// Counts claimed deliveries as in flight. Releases those whose slots were taken meanwhile.
    async fn admit(&self, claimed: Vec<ClaimedDelivery>, plan: &Plan) -> Vec<ReadyToSend> {
        let taken_over = claimed.iter().filter(|one| one.taken_over).count();
        metrics::counter!("webhook_taken_over_total").increment(taken_over as u64);
        let guards = self.capacity.admit(plan, claimed.iter().map(found));
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

fn found(claimed: &ClaimedDelivery) -> Found {
    let ClaimedDelivery { endpoint_id: endpoint, mode, max_per_second, .. } = *claimed;
    Found { lease: lease_of(claimed), endpoint, mode, max_per_second }
}

fn lease_of(claimed: &ClaimedDelivery) -> Lease {
    Lease { delivery: claimed.id, business: claimed.business_id, token: claimed.token }
}
