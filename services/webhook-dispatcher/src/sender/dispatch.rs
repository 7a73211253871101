//! The dispatch loop: claims due deliveries and sends each in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use postgres::StoreError;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::Sender;
use super::claim::Claim;
use super::deliver::span_of;
use super::express::ReadyToSend;
use super::scan::Scan;
use crate::store::{self, Lease};

/// While the database is unreachable.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// When the service stops, attempts in flight get this long. The leases of the rest are released.
const DRAIN: Duration = Duration::from_secs(3);

/// Leases that one statement renews. A statement for all of them would delay the webhooks of others.
const RENEWED_AT_ONCE: usize = 16;
const RENEWAL_PAUSE: Duration = Duration::from_millis(20);
/// If the database is slow, one statement renews the rest after this time, so that no lease expires meanwhile.
const SMALL_RENEWALS: Duration = Duration::from_millis(500);

/// When to claim again, as the latest claim suggests.
#[derive(Clone, Copy, Default)]
struct NextClaim {
    /// The database did not answer: wait this long.
    pause: Option<Duration>,
    /// The claim found deliveries, so more may be due that had no room; or other endpoints wait to be asked for.
    more: bool,
    /// An endpoint may get its next delivery at this time.
    at: Option<Instant>,
}

impl Sender {
    /// Sends due deliveries until `stop`. New ones go by express and never wait for this loop.
    pub(crate) async fn dispatch(self: Arc<Self>, stop: CancellationToken) {
        let mut scan = Scan::new(Instant::now());
        let mut next = NextClaim::default();
        while !stop.is_cancelled() {
            metrics::gauge!("webhook_in_flight").set(count(self.capacity.in_flight()));
            next = match self.look(&mut scan).await {
                Ok(claim) => NextClaim { pause: None, more: claim.more, at: claim.next_at },
                Err(error) => {
                    if next.pause.is_none() {
                        tracing::warn!(%error, "claiming due webhooks failed; it is retried until it succeeds");
                    }
                    let pause = next.pause.map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX));
                    scan.postpone(Instant::now() + pause);
                    NextClaim { pause: Some(pause), more: true, at: None }
                }
            };
            self.wait(&mut scan, next, &stop).await;
        }
        self.drain(self.tasks.close()).await;
        let id = self.instance;
        if let Err(error) = self.unit.database.read(async |conn| store::remove_instance(conn, id).await).await
        {
            tracing::warn!(%error, "removing this instance failed; the others share its part of the rates when it expires");
        }
    }

    /// Scans if it is time, and claims as much as there is room for. A scan that fails stops no claim. One that is slow, as while a
    /// backup's snapshot is in use, is followed by a long rest.
    async fn look(self: &Arc<Self>, scan: &mut Scan) -> Result<Claim, StoreError> {
        if scan.next_at() <= Instant::now() {
            self.scan(scan).await;
        }
        let began = Instant::now();
        let room = self.capacity.room(began);
        if room == 0 {
            return Ok(Claim { more: true, ..Claim::default() });
        }
        let claim = self.claim(room).await?;
        self.capacity.claimed((began, Instant::now()), claim.found.iter().copied());
        Ok(claim)
    }

    /// Returns the delivery if the service stops.
    pub(super) fn start(self: &Arc<Self>, ready: ReadyToSend) -> Option<ReadyToSend> {
        let sender = self.clone();
        self.tasks.start(ready, |(claimed, guard)| async move {
            let span = span_of(&claimed);
            sender.deliver(claimed, guard).instrument(span).await;
        })
    }

    /// Returns when another claim is worthwhile: a delivery became due, a slot is free for one that waits, or the next
    /// scan is due.
    async fn wait(
        &self,
        scan: &mut Scan,
        NextClaim { pause, mut more, at }: NextClaim,
        stop: &CancellationToken,
    ) {
        let earliest = Instant::now() + pause.unwrap_or_default();
        let few_left = self.capacity.in_flight() * 3 / 4;
        loop {
            let now = Instant::now();
            let until = at.into_iter().fold(scan.next_at(), Instant::min).max(earliest);
            let claim = if more && pause.is_none() { self.capacity.next_claim(few_left, now) } else { None };
            let until = claim.into_iter().fold(until, Instant::min);
            if until <= now {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                wake = self.capacity.woken(|| self.unit.clock.now()), if pause.is_none() => {
                    more |= wake.claim;
                    if wake.scan {
                        scan.request(now);
                    }
                }
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    /// Waits for the attempts in flight. Another process repeats those that do not end in time; receivers recognise the
    /// repetition by the event's id.
    async fn drain(&self, mut sending: JoinSet<()>) {
        let all = async { while sending.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all).await.is_ok() {
            return;
        }
        let held = self.capacity.leases();
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

    /// Extends the leases that are due, of all deliveries in flight, including connection tests.
    ///
    /// # Errors
    /// When the database is unreachable.
    pub(crate) async fn renew_leases(&self) -> Result<(), StoreError> {
        let (began, leases) = (Instant::now(), self.capacity.due_leases());
        let mut rest = leases.as_slice();
        while !rest.is_empty() {
            let at_once = if began.elapsed() < SMALL_RENEWALS { RENEWED_AT_ONCE } else { rest.len() };
            let (next, later) = rest.split_at(at_once.min(rest.len()));
            let at = Instant::now();
            let renewed = self.unit.database.read(async |conn| store::renew_leases(conn, next).await).await?;
            self.capacity.mark_renewed(&renewed, at);
            rest = later;
            if !rest.is_empty() && began.elapsed() < SMALL_RENEWALS {
                tokio::time::sleep(RENEWAL_PAUSE).await;
            }
        }
        self.capacity.mark_all_renewed(began);
        Ok(())
    }

    /// Shows the other instances that this one runs, and counts them.
    ///
    /// # Errors
    /// When the database is unreachable.
    pub(crate) async fn renew_instance(&self) -> Result<(), StoreError> {
        let id = self.instance;
        let instances = self.unit.database.read(async |conn| store::renew_instance(conn, id).await).await?;
        self.capacity.share(u32::try_from(instances).unwrap_or(u32::MAX));
        Ok(())
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
