//! The sender's work, from its start until everything that it sent is recorded.

use std::sync::Arc;
use std::time::Duration;

use domain::Mode;
use postgres::StoreError;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Sender;
use crate::store::{self, INSTANCE_RENEWAL, LEASE, Lease, Member};

/// When the service stops, attempts in flight get this long. Workers are aborted 4 s after the stop.
const DRAIN: Duration = Duration::from_secs(2);
/// The others are given up, which takes no longer than this.
const GIVE_UP: Duration = Duration::from_millis(100);
/// After that, writing the outcomes of ended attempts may take this long.
const RECORD: Duration = Duration::from_millis(1_500);

/// One statement renews this many leases. A statement for all leases would delay the webhooks of others.
const RENEWED_AT_ONCE: usize = 16;
const RENEWAL_PAUSE: Duration = Duration::from_millis(20);
/// If the database is slow, one statement renews the rest after this time, so that no lease expires meanwhile.
const SMALL_RENEWALS: Duration = Duration::from_millis(500);

impl Sender {
    /// Sends due deliveries until `stop`, and then drains.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let drained = CancellationToken::new();
        let work = async {
            let stopped = async {
                stop.cancelled().await;
                Instant::now()
            };
            let (stopped_at, ..) = tokio::join!(
                stopped,
                self.claim_until(Mode::Live, &stop),
                self.claim_until(Mode::Test, &stop),
                stop.run_until_cancelled(self.scan()),
                stop.run_until_cancelled(self.show_life()),
            );
            self.drain(stopped_at).await;
            drained.cancel();
        };
        tokio::join!(work, self.renew_until(&drained));
    }

    /// Others take over at once what has not begun. Waits for the attempts in flight, whose leases are renewed meanwhile, and
    /// for their outcomes. Another process repeats the attempts that do not end in time; receivers recognise the repetition by
    /// the event's id.
    async fn drain(&self, stopped_at: Instant) {
        let (mut sending, mut given_up) = (self.tasks.close(), Vec::new());
        let (give_up, at) = (self.give_up.clone(), stopped_at + DRAIN);
        // Also of webhooks that are sent before they are stored, which become tasks later.
        tokio::spawn(async move {
            sleep_until(at).await;
            give_up.cancel();
        });
        let attempts = timeout_at(at + GIVE_UP, all_of(&mut sending, &mut given_up));
        let (_in_time, ()) = tokio::join!(attempts, self.leave());
        // The outcomes of the others are gathered: to release their leases would fence successes.
        self.release(&given_up).await;
        if timeout_at(at + RECORD, all_of(&mut sending, &mut given_up)).await.is_err() {
            tracing::warn!(
                in_flight = self.schedule.in_flight(),
                "outcomes could not be written before the end"
            );
        }
    }

    /// Others take over at once.
    async fn leave(&self) {
        let id = self.instance;
        if let Err(error) = self.database.read(async |conn| store::remove_instance(conn, id).await).await {
            tracing::warn!(%error, "removing this instance failed; the others take over when it expires");
        }
    }

    /// Ends leases, so that another process can send the deliveries at once.
    pub(super) async fn release(&self, leases: &[Lease]) {
        if leases.is_empty() {
            return;
        }
        match self.database.read(async |conn| store::release_leases(conn, leases).await).await {
            Ok(released) => tracing::info!(released, "leases released"),
            Err(error) => {
                tracing::warn!(%error, "releasing leases failed; another process sends these webhooks when the leases expire")
            }
        }
    }

    /// Shows the other instances that this one lives, and looks which of them do.
    async fn show_life(&self) {
        let mut is_failing = false;
        loop {
            metrics::gauge!("webhook_in_flight").set(count(self.schedule.in_flight()));
            let began = Instant::now();
            match self.renew_instance().await {
                Ok(members) => {
                    is_failing = false;
                    if self.schedule.update_members(&members, began) {
                        self.scan_requested.notify_one();
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(%error, "this instance claims nothing until it can show that it lives");
                    }
                }
            }
            sleep(INSTANCE_RENEWAL).await;
        }
    }

    /// Returns the instances that live.
    async fn renew_instance(&self) -> Result<Vec<Member>, StoreError> {
        let id = self.instance;
        if let Some(members) = self.database.read(async |conn| store::renew_instance(conn, id).await).await? {
            return Ok(members);
        }
        self.database.transaction(async |conn| store::join_instances(conn, id).await).await
    }

    async fn renew_until(&self, drained: &CancellationToken) {
        while drained.run_until_cancelled(sleep(LEASE / 4)).await.is_some() {
            if let Err(error) = self.renew_leases().await {
                tracing::warn!(%error, "renewing leases failed; it is retried");
            }
        }
    }

    /// Extends the leases that are due, of all deliveries in flight, including connection tests.
    async fn renew_leases(&self) -> Result<(), StoreError> {
        let (began, leases) = (Instant::now(), self.schedule.due_leases());
        let mut rest = leases.as_slice();
        while !rest.is_empty() {
            let at_once = if began.elapsed() < SMALL_RENEWALS { RENEWED_AT_ONCE } else { rest.len() };
            let (next, later) = rest.split_at(at_once.min(rest.len()));
            let at = Instant::now();
            let renewed = self.database.read(async |conn| store::renew_leases(conn, next).await).await?;
            self.schedule.mark_renewed(&renewed, at);
            rest = later;
            if !rest.is_empty() && began.elapsed() < SMALL_RENEWALS {
                sleep(RENEWAL_PAUSE).await;
            }
        }
        self.schedule.mark_all_renewed(began);
        Ok(())
    }
}

async fn all_of(tasks: &mut JoinSet<Option<Lease>>, given_up: &mut Vec<Lease>) {
    while let Some(ended) = tasks.join_next().await {
        given_up.extend(ended.ok().flatten());
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
