//! The dispatch loop: claims due deliveries and sends each in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use postgres::StoreError;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::Sender;
use super::client::Webhook;
use super::express::ReadyToSend;
use super::in_flight::{InFlight, LEASE};
use super::pace::Pace;
use crate::domain::{Failure, Slots};
use crate::store::{self, ClaimRequest, ClaimedDelivery, Lease, NextState, Outcome};

/// Wake-ups only shorten this interval: polling also finds deliveries that became due without one.
const POLL: Duration = Duration::from_secs(1);
/// While the database is unreachable.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// When the service stops, attempts in flight get this long. The leases of the rest are released.
const DRAIN: Duration = Duration::from_secs(3);
/// A secret that cannot be decrypted is the operator's error: it delays the delivery but uses up no attempt.
const UNREADABLE_SECRET_PAUSE: TimeDelta = TimeDelta::seconds(60);

/// When to claim again, as the latest claim suggests.
#[derive(Clone, Copy, Default)]
struct NextClaim {
    /// The database did not answer: wait this long.
    pause: Option<Duration>,
    /// The claim found deliveries, so more may be due that had no room.
    more: bool,
}

impl Sender {
    /// Sends due deliveries, and those of the express queue, until `stop`.
    pub(crate) async fn dispatch(
        self: Arc<Self>,
        mut express: UnboundedReceiver<ReadyToSend>,
        stop: CancellationToken,
    ) {
        let mut sending = JoinSet::new();
        let (mut next, mut pace) = (NextClaim::default(), Pace::new(Instant::now()));
        while !stop.is_cancelled() {
            while sending.try_join_next().is_some() {}
            metrics::gauge!("webhook_in_flight").set(count(self.in_flight.len()));
            let room =
                self.concurrency.saturating_sub(self.in_flight.len()).min(pace.max_claim(Instant::now()));
            if room > 0 {
                let began = Instant::now();
                match self.claim_while_sending(room, (&mut express, &mut pace), &mut sending).await {
                    Ok(claimed) => {
                        let found = claimed.iter().map(|(claimed, _)| claimed.endpoint_id);
                        pace.claimed((began, Instant::now()), found);
                        next = NextClaim { pause: None, more: !claimed.is_empty() };
                        for ready in claimed {
                            self.start(&mut sending, ready);
                        }
                    }
                    Err(error) => {
                        let longer = next.pause.map_or(POLL, |pause: Duration| (pause * 2).min(PAUSE_MAX));
                        if next.pause.replace(longer).is_none() {
                            tracing::warn!(%error, "claiming due webhooks failed; it is retried until it succeeds");
                        }
                    }
                }
            }
            self.wait((&mut express, &mut pace), &mut sending, next, &stop).await;
        }
        // Whoever commits a reservation from now on releases it.
        express.close();
        let unsent: Vec<ReadyToSend> = std::iter::from_fn(|| express.try_recv().ok()).collect();
        self.release(&Vec::from_iter(unsent.iter().map(|(_, guard)| guard.lease()))).await;
        drop(unsent);
        self.drain(sending).await;
    }

    fn send_new(self: &Arc<Self>, ready: ReadyToSend, pace: &mut Pace, sending: &mut JoinSet<()>) {
        pace.sent_new(ready.0.endpoint_id, Instant::now());
        self.start(sending, ready);
    }

    fn start(self: &Arc<Self>, sending: &mut JoinSet<()>, (claimed, guard): ReadyToSend) {
        let span = span_of(&claimed);
        sending.spawn(Self::deliver(self.clone(), claimed, guard).instrument(span));
    }

    /// Returns when another claim is worthwhile: a delivery became due, a slot is free for one that waits, or the
    /// interval has passed. Meanwhile it sends what arrives in the express queue.
    async fn wait(
        self: &Arc<Self>,
        (express, pace): (&mut UnboundedReceiver<ReadyToSend>, &mut Pace),
        sending: &mut JoinSet<()>,
        NextClaim { pause, mut more }: NextClaim,
        stop: &CancellationToken,
    ) {
        let until = Instant::now() + pause.unwrap_or(POLL);
        let few_left = self.in_flight.len() * 3 / 4;
        loop {
            let in_flight = self.in_flight.len();
            let may_claim = more && pause.is_none() && in_flight < self.concurrency;
            let next_claim = pace.next_claim(in_flight <= few_left, Instant::now());
            if may_claim && Instant::now() >= next_claim {
                return;
            }
            let until = if may_claim { until.min(next_claim) } else { until };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified(), if pause.is_none() => more = true,
                Some(ready) = express.recv() => self.send_new(ready, pace, sending),
                Some(_) = sending.join_next() => {}
                () = tokio::time::sleep_until(until) => return,
            }
        }
    }

    /// Sends new deliveries while the database looks for due ones.
    async fn claim_while_sending(
        self: &Arc<Self>,
        room: usize,
        (express, pace): (&mut UnboundedReceiver<ReadyToSend>, &mut Pace),
        sending: &mut JoinSet<()>,
    ) -> Result<Vec<ReadyToSend>, StoreError> {
        let mut claiming = std::pin::pin!(self.claim(room));
        loop {
            tokio::select! {
                claimed = &mut claiming => return claimed,
                Some(ready) = express.recv() => self.send_new(ready, pace, sending),
            }
        }
    }

    async fn claim(&self, room: usize) -> Result<Vec<ReadyToSend>, StoreError> {
        let now = self.unit.clock.now();
        let loads = self.loads.snapshot(&self.in_flight.by_endpoint(), Instant::now());
        let full = loads.iter().filter(|(_, load)| load.in_flight > 0 && load.allowed == 0);
        self.in_flight.wake_when_free(full.map(|(endpoint, load)| (*endpoint, load.in_flight)));
        let slots = Slots::of(self.concurrency);
        let (held, free, seen) = self.in_flight.count_and_watch(slots);
        let excluded = self.in_flight.excluded_from_claims();
        let request = ClaimRequest {
            now,
            lease_until: now + LEASE,
            token: i64::from_le_bytes(self.unit.entropy.bytes()),
            room: i64::try_from(room).unwrap_or(i64::MAX),
            initial_slots: self.loads.initial_slots(),
            per_second: self.loads.per_second(),
            loads: &loads,
            held: &held,
            free,
            excluded: &excluded,
        };
        let claimed = self.unit.database.read(async |conn| store::claim(conn, &request).await).await?;
        self.loads
            .count_sent(claimed.iter().map(|one| (one.endpoint_id, one.max_per_second)), Instant::now());
        let taken_over = claimed.iter().filter(|one| one.taken_over).count();
        metrics::counter!("webhook_taken_over_total").increment(taken_over as u64);
        let lease_of =
            |one: &ClaimedDelivery| Lease { delivery: one.id, business: one.business_id, token: one.token };
        let wanted = claimed.iter().map(|one| (lease_of(one), one.endpoint_id, one.mode));
        let guards = self.in_flight.insert_claimed(wanted, (slots, seen));
        let (mut ready, mut excess) = (Vec::with_capacity(claimed.len()), Vec::new());
        for (claimed, guard) in claimed.into_iter().zip(guards) {
            match guard {
                Some(guard) => ready.push((claimed, guard)),
                None => excess.push(lease_of(&claimed)),
            }
        }
        self.release(&excess).await;
        Ok(ready)
    }

    async fn deliver(self: Arc<Self>, claimed: ClaimedDelivery, guard: InFlight) {
        if claimed.number == 1 {
            let lag = (self.unit.clock.now() - claimed.occurred_at).to_std().unwrap_or_default();
            metrics::histogram!("webhook_first_attempt_lag_seconds").record(lag);
        }
        let outcome = self.outcome_of(claimed).await;
        if let Some(attempt) = &outcome.attempt {
            self.loads.record_result(outcome.endpoint, attempt.succeeded(), attempt.duration_ms);
            // After a failure the slot stays occupied until the outcome is written: only then do other processes see
            // the endpoint's changed health.
            if attempt.succeeded() {
                guard.received();
            }
        }
        self.recorder.record(outcome).await;
    }

    async fn outcome_of(&self, claimed: ClaimedDelivery) -> Outcome {
        let mut outcome = Outcome {
            delivery: claimed.id,
            business_id: claimed.business_id,
            endpoint: claimed.endpoint_id,
            order: claimed.order_id,
            queue_order: claimed.queue_order,
            token: claimed.token,
            number: claimed.number,
            attempt: None,
            next: NextState::Discarded,
            at: self.unit.clock.now(),
            is_test: claimed.kind == domain::EventKind::WebhookTest,
            disable_reason: None,
            requested_pause: None,
        };
        if !claimed.is_wanted {
            return outcome;
        }
        let webhook = Webhook {
            endpoint: claimed.endpoint_id,
            url: &claimed.url,
            secrets: &claimed.secrets,
            event: claimed.event_id,
            mode: claimed.mode,
            body: claimed.body,
        };
        let attempted = self.client.attempt(webhook).await;
        outcome.at = self.unit.clock.now();
        match attempted {
            Err(error) => {
                tracing::error!(%error, "decrypting a signing secret failed; check WAYBILL_SECRETS__KEY");
                outcome.next = NextState::Retry(outcome.at + UNREADABLE_SECRET_PAUSE);
            }
            Ok(attempted) => {
                outcome.disable_reason = attempted.disable_reason();
                outcome.requested_pause = attempted.requested_pause();
                outcome.next = match &attempted.failure {
                    None => NextState::Succeeded,
                    // The owner waits for the test's result, so it is not retried.
                    Some(_) if outcome.is_test => NextState::Failed,
                    Some(failure) => {
                        log_failure(failure);
                        let jitter = self.unit.entropy.jitter();
                        let (mode, number) = (claimed.mode, claimed.number_in_schedule);
                        match self.schedule.next_attempt(mode, number, attempted.retry_after, jitter) {
                            Some(delay) => NextState::Retry(outcome.at + delay),
                            None => NextState::Failed,
                        }
                    }
                };
                outcome.attempt = Some(attempted.attempt);
            }
        }
        outcome
    }

    /// Waits for the attempts in flight. Another process repeats those that do not end in time; receivers recognise the
    /// repetition by the event's id.
    async fn drain(&self, mut sending: JoinSet<()>) {
        let all = async { while sending.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all).await.is_ok() {
            return;
        }
        let held = self.in_flight.leases();
        sending.abort_all();
        self.release(&held).await;
    }

    /// Ends leases, so that another process can send the deliveries at once.
    pub(super) async fn release(&self, leases: &[Lease]) {
        if leases.is_empty() {
            return;
        }
        match self.unit.database.read(async |conn| store::release_leases(conn, leases).await).await {
            Ok(released) => tracing::info!(released, "leases released"),
            Err(error) => {
                tracing::warn!(%error, "releasing leases failed; another process sends these webhooks when the leases expire")
            }
        }
    }

    /// Extends the leases of all deliveries in flight, including connection tests.
    ///
    /// # Errors
    /// When the database is unreachable.
    pub(crate) async fn renew_leases(&self) -> Result<(), StoreError> {
        let (began, leases) = (std::time::Instant::now(), self.in_flight.leases());
        if !leases.is_empty() {
            let until = self.unit.clock.now() + LEASE;
            self.unit.database.read(async |conn| store::renew_leases(conn, &leases, until).await).await?;
        }
        self.in_flight.mark_renewed(began);
        Ok(())
    }
}

/// In the trace of the event: a webhook can be followed back to the API call that caused it.
fn span_of(claimed: &ClaimedDelivery) -> tracing::Span {
    let span = tracing::info_span!(
        "webhook",
        delivery_id = %claimed.id,
        event_id = %claimed.event_id,
        endpoint_id = %claimed.endpoint_id,
        business_id = %claimed.business_id,
        attempt = claimed.number,
        trace_id = tracing::field::Empty,
    );
    if let Some(trace) = &claimed.trace {
        trace.set_as_parent_of(&span);
    }
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    span
}

/// Logs only the kind of failure: a URL's path may contain a secret, and a host name is the owner's private matter.
fn log_failure(failure: &Failure) {
    match failure {
        Failure::Status(status) | Failure::Redirect(status) => {
            tracing::info!(status, "webhook not accepted")
        }
        Failure::Timeout(_) => tracing::info!("webhook timed out"),
        Failure::Refused(_) => tracing::warn!("webhook not sent: its target is not allowed"),
        _ => tracing::info!("webhook endpoint unreachable"),
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
