//! Claims due deliveries, in one loop for each mode, and sends each in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::Mode;
use postgres::StoreError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Sender;
use super::express::ReadyToSend;
use super::schedule::{Found, Request};
use crate::store::{self, Ask, ClaimRequest, ClaimedDelivery, LEASE, Lease};

/// One claim covers everything that becomes due, or ends, within this time.
const GATHER: Duration = Duration::from_millis(5);
/// Each end of an attempt may permit another choice, which looks at the waiting endpoints.
const LOOK_PAUSE: Duration = Duration::from_millis(2);
/// While the database is unreachable.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(2);

impl Sender {
    /// Claims until `stop`. New deliveries go by express and never wait for this loop.
    pub(super) async fn claim_until(self: &Arc<Self>, mode: Mode, stop: &CancellationToken) {
        let mut pause = None;
        while !stop.is_cancelled() {
            let chosen_at = Instant::now();
            let rest_until = match self.schedule.choose(mode) {
                Ok(request) => {
                    pause = self.claim_or_pause(&request, pause).await;
                    Instant::now() + pause.unwrap_or(GATHER)
                }
                Err(until) => {
                    self.wait(mode, until, stop).await;
                    chosen_at + LOOK_PAUSE
                }
            };
            stop.run_until_cancelled(tokio::time::sleep_until(rest_until)).await;
        }
    }

    /// Returns how long to wait if the claim has failed, after the pause of the claim before.
    async fn claim_or_pause(
        self: &Arc<Self>,
        request: &Request,
        pause: Option<Duration>,
    ) -> Option<Duration> {
        let error = self.claim(request).await.err()?;
        self.schedule.not_claimed(request);
        if pause.is_none() {
            tracing::warn!(%error, "claiming due webhooks failed; it is retried until it succeeds");
        }
        Some(pause.map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX)))
    }

    /// Returns when another choice may have another result.
    async fn wait(&self, mode: Mode, until: Option<Instant>, stop: &CancellationToken) {
        let next = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.schedule.changed(mode) => {}
            () = next => {}
        }
    }

    /// Sends at once what it finds.
    async fn claim(self: &Arc<Self>, request: &Request) -> Result<(), StoreError> {
        let asks: Vec<Ask> = request.asked.iter().map(|one| one.ask).collect();
        let excluded = self.schedule.excluded_from_claims();
        let token = i64::from_le_bytes(self.unit.entropy.bytes());
        let claim = ClaimRequest { mode: request.mode, token, asks: &asks, excluded: &excluded };
        let began = Instant::now();
        let claim = async |conn: &mut _| {
            // It may have waited for its connection.
            if !self.schedule.has_view_of(request) {
                return Err(StoreError::Unavailable("the running instances have changed".into()));
            }
            store::claim(conn, &claim).await
        };
        let claimed = self.database.read(claim).await?;
        metrics::histogram!("webhook_claim_duration_seconds").record(began.elapsed());
        if began.elapsed() > LEASE / 2 {
            // The leases may expire before they are renewed.
            self.release(&Vec::from_iter(claimed.iter().map(|(one, _)| lease_of(one)))).await;
            return Err(StoreError::Unavailable("the claim took too long".into()));
        }
        let taken_over = claimed.iter().filter(|(one, _)| one.taken_over).count();
        metrics::counter!("webhook_taken_over_total").increment(taken_over as u64);
        let found: Vec<Found> = claimed.iter().map(found).collect();
        let guards = self.schedule.claimed(request, &found);
        let ready: Vec<ReadyToSend> = claimed.into_iter().map(|(one, _)| one).zip(guards).collect();
        self.send_now(ready).await;
        Ok(())
    }
}

fn found((claimed, due_at): &(ClaimedDelivery, DateTime<Utc>)) -> Found {
    let ClaimedDelivery { endpoint_id: endpoint, max_per_second, .. } = *claimed;
    Found { lease: lease_of(claimed), endpoint, due_at: *due_at, max_per_second }
}

fn lease_of(claimed: &ClaimedDelivery) -> Lease {
    Lease { delivery: claimed.id, business: claimed.business_id, token: claimed.token }
}
