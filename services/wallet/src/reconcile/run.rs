//! Reconciliation by a running service, every few minutes: what is new since a little before the last run, and a piece of
//! the whole history, from where the last run's piece ended. Of several instances one takes the run; all show how it
//! went.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use domain::OrderId;
use postgres::StoreError;
use strum::VariantArray;

use super::examine::{Candidates, ExamineError, Examiner};
use super::feed::Feed;
use super::findings::{Findings, KEPT_MAX};
use super::report::RunReport;
use crate::domain::{Check, Finding, UNDER_WAY};
use crate::store::reconciliation::progress::{self, Cursors, LastRun};

/// A run that is not kept for this long is another instance's to take.
const RUN_LEASE: TimeDelta = TimeDelta::seconds(60);
/// Each look is bounded by the database's and the peer's deadlines, well below the lease.
const EXTEND_RUN_EVERY: Duration = Duration::from_secs(15);
/// When a run failed, the next one begins after this time: most often order-api was away for a moment.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(15);
/// A run ends after this time, wherever it is; the next one goes on from there.
const RUN_MAX: Duration = Duration::from_secs(240);
/// What is new is looked at in whole, unless so much came that a run would not end.
const RECENT_ROWS_MAX: i64 = 1_000_000;
/// At the first run ever; what is older comes with the sweep.
const FIRST_RECENT: TimeDelta = TimeDelta::hours(1);
/// What was too young at the last run is looked at again, and what was written late.
const OVERLAP: TimeDelta = TimeDelta::minutes(10);
const _: () = assert!(OVERLAP.num_seconds() > UNDER_WAY.num_seconds());
/// How long a run waits for what may be under way.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    Examine(#[from] ExamineError),
    #[error("another instance has taken the turn")]
    Lost,
    #[error("time was up before all that is new was looked at")]
    TimeUp,
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Examine(error.into())
    }
}

/// The part of an instance that reconciles.
pub(crate) struct Reconciliation {
    pub(crate) examiner: Examiner,
    pub(crate) interval: TimeDelta,
    pub(crate) sweep_rows: u32,
    /// This instance, among those that take runs.
    pub(crate) name: String,
}

/// A run that this instance has taken.
struct Run<'a> {
    worker: &'a Reconciliation,
    began: DateTime<Utc>,
    started: Instant,
    kept: Instant,
    cursors: BTreeMap<String, Cursors>,
    report: RunReport,
}

impl Reconciliation {
    /// Takes a run if one is due, and publishes the result of the last one.
    pub(crate) async fn tick(&self) -> Result<(), RunError> {
        let outcome = self.claim_run().await;
        if let Ok(Some(_)) | Err(_) = &outcome {
            let outcome = if outcome.is_ok() { "completed" } else { "failed" };
            metrics::counter!("wallet_reconciliation_runs_total", "outcome" => outcome).increment(1);
        }
        self.show().await?;
        outcome.map(|_| ())
    }

    /// `None` when it is not this instance's run.
    async fn claim_run(&self) -> Result<Option<()>, RunError> {
        let began = self.examiner.clock.now();
        let database = &self.examiner.database;
        let taken = database
            .read(async |conn| progress::claim_run(conn, &self.name, began, began + RUN_LEASE).await)
            .await?;
        if !taken {
            return Ok(None);
        }
        let cursors = database.read(async |conn| progress::cursors(conn).await).await?;
        let started = Instant::now();
        let report = RunReport::default();
        let mut run = Run { worker: self, began, started, kept: started, cursors, report };
        let outcome = run.take().await;
        let interval = self.interval;
        let next_at = match outcome {
            Ok(()) => Some(began + interval),
            // Another instance decides when the next run is.
            Err(RunError::Lost) => None,
            Err(_) => Some(self.examiner.clock.now() + RETRY_AFTER.min(interval)),
        };
        if let Some(next_at) = next_at {
            database.read(async |conn| progress::extend_run(conn, &self.name, next_at).await).await?;
        }
        outcome.map(Some)
    }

    /// Sets the gauges to what the last runs found, whichever instance took them.
    async fn show(&self) -> Result<(), StoreError> {
        let (run, counts, cursors) = self
            .examiner
            .database
            .read(async |conn| {
                let run = progress::last_run(conn).await?;
                let counts = progress::count_findings(conn).await?;
                Ok::<_, StoreError>((run, counts, progress::cursors(conn).await?))
            })
            .await?;
        for check in Check::VARIANTS {
            let count = counts.get(check).copied().unwrap_or_default();
            metrics::gauge!("wallet_reconciliation_findings", "check" => check.as_str()).set(precise(count));
        }
        // Never is long ago.
        let at = |time: Option<DateTime<Utc>>| precise(time.map_or(0, |time| time.timestamp()));
        metrics::gauge!("wallet_reconciliation_completed_timestamp_seconds").set(at(run.completed_at));
        metrics::gauge!("wallet_reconciliation_last_run_rows")
            .set(precise(run.rows_checked.unwrap_or_default()));
        metrics::gauge!("wallet_reconciliation_in_flight").set(precise(run.under_way));
        let seconds = precise(run.duration_ms.unwrap_or_default()) / 1_000.0;
        metrics::gauge!("wallet_reconciliation_last_run_duration_seconds").set(seconds);
        for feed in Feed::VARIANTS.iter().filter(|feed| feed.has_sweep()) {
            let swept = cursors.get(feed.name()).and_then(|cursors| cursors.swept_at);
            metrics::gauge!("wallet_reconciliation_sweep_completed_timestamp_seconds", "feed" => feed.name())
                .set(at(swept));
        }
        Ok(())
    }
}

impl Run<'_> {
    /// The books first: they can be proven also while order-api is away.
    async fn take(&mut self) -> Result<(), RunError> {
        self.recheck_ledger().await?;
        for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.books().is_some()) {
            self.scan_all(feed).await?;
        }
        self.keep_findings().await?;
        self.recheck_orders().await?;
        for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.books().is_none()) {
            self.scan_all(feed).await?;
        }
        self.report.confirm(&self.worker.examiner, PATIENCE).await?;
        self.keep_findings().await?;
        let now = self.worker.examiner.clock.now();
        let run = LastRun {
            completed_at: Some(now),
            duration_ms: i64::try_from(self.started.elapsed().as_millis()).ok(),
            rows_checked: Some(self.report.rows_in_all()),
            under_way: self.report.under_way,
        };
        let name = &self.worker.name;
        let database = &self.worker.examiner.database;
        database.read(async |conn| progress::note_completed(conn, name, &run).await).await?;
        let findings = self.report.findings.total();
        tracing::info!(
            rows = run.rows_checked,
            findings,
            under_way = run.under_way,
            "the books are reconciled"
        );
        Ok(())
    }

    /// What is new, then a piece of the rest.
    async fn scan_all(&mut self, feed: Feed) -> Result<(), RunError> {
        let first = || Cursors {
            recent: feed.start(Some(self.began - FIRST_RECENT)),
            sweep: feed.start(None),
            swept_at: None,
        };
        let mut cursors = self.cursors.remove(feed.name()).unwrap_or_else(first);
        let mut is_up_to_date = true;
        if feed.has_recent() {
            let reached = self.scan_on(feed, cursors.recent, RECENT_ROWS_MAX).await?;
            is_up_to_date = reached.is_none();
            cursors.recent = reached.unwrap_or_else(|| feed.start(Some(self.began - OVERLAP)));
        }
        if feed.has_sweep() {
            let rows = self.worker.sweep_rows.into();
            let reached = self.scan_on(feed, cursors.sweep, rows).await?;
            if reached.is_none() {
                cursors.swept_at = Some(self.worker.examiner.clock.now());
            }
            cursors.sweep = reached.unwrap_or_else(|| feed.start(None));
        }
        let database = &self.worker.examiner.database;
        database.read(async |conn| progress::save_cursors(conn, feed.name(), &cursors).await).await?;
        if is_up_to_date { Ok(()) } else { Err(RunError::TimeUp) }
    }

    /// Looks at about so many rows; gives the place reached, or `None` at the end.
    async fn scan_on(&mut self, feed: Feed, from: String, rows: i64) -> Result<Option<String>, RunError> {
        let (mut after, mut looked_at) = (from, 0);
        while looked_at < rows && self.started.elapsed() < RUN_MAX {
            let page = self.worker.examiner.scan(feed, &after).await?;
            looked_at += page.rows;
            let found = u64::try_from(page.rows).unwrap_or_default();
            metrics::counter!("wallet_reconciliation_rows_total", "feed" => feed.name()).increment(found);
            match self.report.take(&self.worker.examiner, feed, page, PATIENCE).await? {
                Some(next) => after = next,
                None => return Ok(None),
            }
            self.extend_run().await?;
        }
        Ok(Some(after))
    }

    async fn extend_run(&mut self) -> Result<(), RunError> {
        if self.kept.elapsed() < EXTEND_RUN_EVERY {
            return Ok(());
        }
        let (worker, until) = (self.worker, self.worker.examiner.clock.now() + RUN_LEASE);
        let database = &worker.examiner.database;
        let kept = database.read(async |conn| progress::extend_run(conn, &worker.name, until).await).await?;
        self.kept = Instant::now();
        if kept { Ok(()) } else { Err(RunError::Lost) }
    }

    async fn recheck_ledger(&mut self) -> Result<(), RunError> {
        for finding in self.open_findings().await? {
            let Some(feed) = Feed::of(finding.check) else { continue };
            let again = self.worker.examiner.recheck(feed, &finding.subject).await?;
            let is_still_so = again
                .findings
                .iter()
                .any(|found| (found.check, &found.subject) == (finding.check, &finding.subject));
            if !is_still_so {
                self.forget(&finding).await?;
            }
            self.extend_run().await?;
        }
        Ok(())
    }

    async fn recheck_orders(&mut self) -> Result<(), RunError> {
        let open: Vec<(OrderId, Finding)> = self
            .open_findings()
            .await?
            .into_iter()
            .filter(|finding| Feed::of(finding.check).is_none())
            // What is no id of an order never becomes one.
            .filter_map(|finding| Some((finding.subject.parse().ok()?, finding)))
            .collect();
        let mut candidates = Candidates::new();
        for (order, finding) in &open {
            candidates.entry(*order).or_default().insert(finding.check);
        }
        let confirmed = self.worker.examiner.confirm(candidates, Duration::ZERO).await?;
        let mut again = Findings::default();
        confirmed.findings.into_iter().for_each(|finding| again.add(finding));
        for (_, finding) in open.iter().filter(|(_, finding)| !again.contains(finding)) {
            self.forget(finding).await?;
        }
        Ok(())
    }

    async fn open_findings(&self) -> Result<Vec<Finding>, StoreError> {
        let limit = i64::try_from(KEPT_MAX).unwrap_or(i64::MAX);
        let database = &self.worker.examiner.database;
        database.read(async |conn| progress::open_findings(conn, limit).await).await
    }

    async fn forget(&self, finding: &Finding) -> Result<(), StoreError> {
        let database = &self.worker.examiner.database;
        database.read(async |conn| progress::drop_finding(conn, finding).await).await?;
        tracing::info!(check = %finding.check, subject = finding.subject, "a finding is right again");
        Ok(())
    }

    /// Keeps what was found until it is right again, as far as there is room, and tells of what was not known.
    async fn keep_findings(&self) -> Result<(), StoreError> {
        let now = self.worker.examiner.clock.now();
        let database = &self.worker.examiner.database;
        let known = self.open_findings().await?;
        let is_known = |finding: &Finding| {
            known.iter().any(|known| (known.check, &known.subject) == (finding.check, &finding.subject))
        };
        let room = KEPT_MAX.saturating_sub(known.len());
        for finding in self.report.findings.kept().filter(|finding| !is_known(finding)).take(room) {
            if database.read(async |conn| progress::keep_finding(conn, &finding, now).await).await? {
                let Finding { check, subject, detail } = finding;
                tracing::error!(%check, subject, detail, "the books are wrong");
            }
        }
        Ok(())
    }
}

/// A count or a time as a gauge's value; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts, and seconds since 1970, are far below 2^53")]
fn precise(number: i64) -> f64 {
    number as f64
}

pub(crate) fn create_counters() {
    for outcome in ["completed", "failed"] {
        metrics::counter!("wallet_reconciliation_runs_total", "outcome" => outcome).increment(0);
    }
}
