//! One run: scans all new rows since shortly before the last run, and the next part of the whole history.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use postgres::StoreError;
use strum::VariantArray;

use super::feed::Feed;
use super::metrics;
use super::report::RunReport;
use super::scanner::{ScanError, Scanner};
use crate::domain::UNDER_WAY_MAX;
use crate::store::reconciliation::progress::{self, Cursors, LastRun};

/// Another instance may take over a run whose lease expired.
pub(super) const LEASE: TimeDelta = TimeDelta::seconds(60);
/// The deadlines of the database and of order-api bound each page, well below the lease.
const RENEW_INTERVAL: Duration = Duration::from_secs(15);
/// A longer run stops, and the next one continues there.
const RUN_MAX: Duration = Duration::from_secs(240);
/// A run scans all new rows, unless there are so many that it would not end.
const RECENT_ROWS_MAX: i64 = 1_000_000;
/// The age of new rows at the very first run.
const FIRST_RECENT: TimeDelta = TimeDelta::hours(1);
/// A run repeats the end of the previous one: steps that were under way then, and rows that committed late.
const OVERLAP: TimeDelta = TimeDelta::minutes(10);
const _: () = assert!(OVERLAP.num_seconds() > UNDER_WAY_MAX.num_seconds());
/// How long a run waits for steps under way.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Schedule {
    /// From the start of one run to the start of the next.
    pub(crate) interval: TimeDelta,
    /// Rows of the history that each run scans, per feed.
    pub(crate) sweep_rows: i64,
    /// Identifies this instance in the lease.
    pub(crate) instance: String,
}

/// Why a run is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    Scan(#[from] ScanError),
    #[error("another instance has taken over the run")]
    Lost,
    #[error("the run reached its time limit before it scanned all new rows")]
    TimeUp,
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Scan(error.into())
    }
}

/// A run that this instance has claimed.
pub(super) struct Run<'a> {
    pub(super) scanner: &'a Scanner,
    pub(super) schedule: &'a Schedule,
    pub(super) began: DateTime<Utc>,
    pub(super) started: Instant,
    /// When the lease was renewed last.
    pub(super) renewed: Instant,
    pub(super) cursors: BTreeMap<String, Cursors>,
    pub(super) report: RunReport,
}

impl Run<'_> {
    /// The feeds within the ledger come first: they do not need order-api.
    pub(super) async fn execute(&mut self) -> Result<(), RunError> {
        self.recheck_ledger_findings().await?;
        for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.table().is_some()) {
            self.scan_feed(feed).await?;
        }
        self.save_findings().await?;
        self.recheck_order_findings().await?;
        for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.table().is_none()) {
            self.scan_feed(feed).await?;
        }
        self.report.recheck_candidates(self.scanner, PATIENCE).await?;
        self.save_findings().await?;
        self.complete().await
    }

    async fn complete(&self) -> Result<(), RunError> {
        let run = LastRun {
            completed_at: Some(self.scanner.clock.now()),
            duration_ms: i64::try_from(self.started.elapsed().as_millis()).ok(),
            rows_checked: Some(self.report.total_rows()),
            under_way: self.report.under_way,
        };
        let (database, holder) = (&self.scanner.database, &self.schedule.instance);
        database.read(async |conn| progress::save_completed_run(conn, holder, &run).await).await?;
        let findings = self.report.findings.total();
        tracing::info!(
            rows = run.rows_checked,
            findings,
            under_way = run.under_way,
            "reconciliation completed"
        );
        Ok(())
    }

    /// Scans the new rows, then the next part of the history.
    async fn scan_feed(&mut self, feed: Feed) -> Result<(), RunError> {
        let first = || Cursors {
            recent: feed.start(Some(self.began - FIRST_RECENT)),
            sweep: feed.start(None),
            swept_at: None,
        };
        let mut cursors = self.cursors.remove(feed.name()).unwrap_or_else(first);
        let mut is_up_to_date = true;
        if feed.has_recent() {
            let reached = self.scan_from(feed, cursors.recent, RECENT_ROWS_MAX).await?;
            is_up_to_date = reached.is_none();
            cursors.recent = reached.unwrap_or_else(|| feed.start(Some(self.began - OVERLAP)));
        }
        if feed.has_sweep() {
            let reached = self.scan_from(feed, cursors.sweep, self.schedule.sweep_rows).await?;
            if reached.is_none() {
                cursors.swept_at = Some(self.scanner.clock.now());
            }
            cursors.sweep = reached.unwrap_or_else(|| feed.start(None));
        }
        let database = &self.scanner.database;
        database.read(async |conn| progress::save_cursors(conn, feed.name(), &cursors).await).await?;
        if is_up_to_date { Ok(()) } else { Err(RunError::TimeUp) }
    }

    /// Scans about `rows` rows. Returns the reached cursor, or `None` at the end of the feed.
    async fn scan_from(&mut self, feed: Feed, from: String, rows: i64) -> Result<Option<String>, RunError> {
        let (mut after, mut scanned) = (from, 0);
        while scanned < rows && self.started.elapsed() < RUN_MAX {
            let page = self.scanner.scan(feed, &after).await?;
            scanned += page.rows;
            metrics::count_rows(feed, page.rows);
            match self.report.add_page(self.scanner, feed, page, PATIENCE).await? {
                Some(next) => after = next,
                None => return Ok(None),
            }
            self.renew_lease().await?;
        }
        Ok(Some(after))
    }

    pub(super) async fn renew_lease(&mut self) -> Result<(), RunError> {
        if self.renewed.elapsed() < RENEW_INTERVAL {
            return Ok(());
        }
        let (holder, until) = (&self.schedule.instance, self.scanner.clock.now() + LEASE);
        let database = &self.scanner.database;
        let is_held = database.read(async |conn| progress::renew_lease(conn, holder, until).await).await?;
        self.renewed = Instant::now();
        if is_held { Ok(()) } else { Err(RunError::Lost) }
    }
}
