//! The dispatch loop: claims due deliveries and sends each in a task of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use postgres::StoreError;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::Sender;
use super::claim::Claim;
use super::deliver::span_of;
use super::express::{Handed, ReadyToSend};
use super::in_flight::InFlight;
use super::pace::Pace;
use super::scan::Scan;
use crate::store::{self, Lease};

/// While the database is unreachable.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// When the service stops, attempts in flight get this long. The leases of the rest are released.
const DRAIN: Duration = Duration::from_secs(3);

/// When to claim again, as the latest claim suggests.
#[derive(Clone, Copy, Default)]
struct NextClaim {
    /// The database did not answer: wait this long.
    pause: Option<Duration>,
    /// The claim found deliveries, so more may be due that had no room.
    more: bool,
    /// An endpoint may get its next delivery at this time.
    at: Option<Instant>,
}

/// What the loop works on.
struct Work {
    express: UnboundedReceiver<Handed>,
    sending: JoinSet<()>,
    pace: Pace,
    scan: Scan,
}

impl Sender {
    /// Sends due deliveries, and those of the express queue, until `stop`.
    pub(crate) async fn dispatch(
        self: Arc<Self>,
        express: UnboundedReceiver<Handed>,
        stop: CancellationToken,
    ) {
        let now = Instant::now();
        let mut work = Work { express, sending: JoinSet::new(), pace: Pace::new(now), scan: Scan::new(now) };
        let mut next = NextClaim::default();
        while !stop.is_cancelled() {
            while work.sending.try_join_next().is_some() {}
            metrics::gauge!("webhook_in_flight").set(count(self.in_flight.len()));
            next = match self.look(&mut work).await {
                Ok(claim) => NextClaim { pause: None, more: claim.more, at: claim.next_at },
                Err(error) => {
                    if next.pause.is_none() {
                        tracing::warn!(%error, "claiming due webhooks failed; it is retried until it succeeds");
                    }
                    let pause = next.pause.map_or(PAUSE_MIN, |pause| (pause * 2).min(PAUSE_MAX));
                    work.scan.postpone(Instant::now() + pause);
                    NextClaim { pause: Some(pause), more: true, at: None }
                }
            };
            self.wait(&mut work, next, &stop).await;
        }
        let Work { mut express, mut sending, .. } = work;
        // Whoever commits a reservation from now on releases it.
        express.close();
        let mut unsent = Vec::new();
        while let Ok(handed) = express.try_recv() {
            match handed {
                Handed::Committed(ready) => unsent.push(ready.1),
                Handed::Sending(_) => self.take_over(handed, &mut sending),
            }
        }
        self.release(&Vec::from_iter(unsent.iter().map(InFlight::lease))).await;
        drop(unsent);
        self.drain(sending).await;
    }

    /// Scans if it is time, and claims as much as there is room for. Meanwhile it sends new deliveries.
    async fn look(self: &Arc<Self>, work: &mut Work) -> Result<Claim, StoreError> {
        let Work { express, sending, pace, scan } = work;
        let began = Instant::now();
        pace.sent_new(self.in_flight.take_new());
        let room = self.concurrency.saturating_sub(self.in_flight.len()).min(pace.max_claim(began));
        let looking = async {
            if self.rescan.swap(false, Ordering::Relaxed) {
                scan.request(began);
            }
            if scan.next_at() <= began {
                self.scan(scan).await?;
            }
            if room > 0 { self.claim(room).await } else { Ok(Claim::default()) }
        };
        let mut looking = std::pin::pin!(looking);
        let claim = loop {
            tokio::select! {
                claim = &mut looking => break claim?,
                Some(handed) = express.recv() => self.take_over(handed, sending),
            }
        };
        if room > 0 {
            pace.claimed((began, Instant::now()), claim.found.iter().copied());
        }
        Ok(claim)
    }

    fn take_over(self: &Arc<Self>, handed: Handed, sending: &mut JoinSet<()>) {
        match handed {
            Handed::Committed(ready) => self.start(sending, *ready),
            Handed::Sending(send) => {
                let sender = self.clone();
                sending.spawn(async move { sender.record_eager(send).await });
            }
        }
    }

    fn start(self: &Arc<Self>, sending: &mut JoinSet<()>, (claimed, guard): ReadyToSend) {
        let span = span_of(&claimed);
        sending.spawn(Self::deliver(self.clone(), claimed, guard).instrument(span));
    }

    /// Returns when another claim is worthwhile: a delivery became due, a slot is free for one that waits, or the next
    /// scan is due. Meanwhile it sends what arrives in the express queue.
    async fn wait(
        self: &Arc<Self>,
        work: &mut Work,
        NextClaim { pause, mut more, at }: NextClaim,
        stop: &CancellationToken,
    ) {
        let Work { express, sending, pace, scan } = work;
        let earliest = Instant::now() + pause.unwrap_or_default();
        let until = at.into_iter().chain([scan.next_at()]).min().unwrap_or(earliest).max(earliest);
        let few_left = self.in_flight.len() * 3 / 4;
        loop {
            pace.sent_new(self.in_flight.take_new());
            let (now, in_flight) = (Instant::now(), self.in_flight.len());
            let may_claim = more && pause.is_none() && in_flight < self.concurrency;
            let next_claim = pace.next_claim(in_flight <= few_left, now);
            if may_claim && now >= next_claim {
                return;
            }
            let until = if may_claim { until.min(next_claim) } else { until };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified(), if pause.is_none() => {
                    more = true;
                    self.waiting.retry_skipped(self.unit.clock.now());
                }
                Some(handed) = express.recv() => self.take_over(handed, sending),
                Some(_) = sending.join_next() => {}
                () = tokio::time::sleep_until(until) => return,
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
        let (began, leases) = (Instant::now(), self.in_flight.leases());
        if !leases.is_empty() {
            self.unit.database.read(async |conn| store::renew_leases(conn, &leases).await).await?;
        }
        self.in_flight.mark_renewed(began);
        Ok(())
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
