//! `wallet reconcile`: checks the whole history, or the part since a given time, reports findings and writes nothing.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use domain::Clock;
use postgres::Database;
use reconciliation::{Arguments, Finding, Report};
use strum::VariantArray;

use crate::reconcile::{ExamineError, Examiner, Feed, RunReport};
use crate::settings::Settings;

/// Longer than any step between the services takes, so that each difference is explained.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(65);

/// Runs the command and prints to `out`.
pub fn main(arguments: Arguments, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &Settings| reconcile(settings, arguments).await);
    Report::conclude(outcome, arguments.run.json, out)
}

async fn reconcile(settings: &Settings, Arguments { since, run }: Arguments) -> anyhow::Result<Report> {
    let clock = Clock::system();
    let examiner = {
        let orders = Examiner::orders(&settings.peers.order_api, &settings.internal.token)?;
        Examiner::new(
            Database::new(&settings.database)?,
            clock.clone(),
            orders,
            settings.reconciliation.chunk_rows,
        )
    };
    let (begun_at, started) = (clock.now(), Instant::now());
    let mut report = RunReport::default();
    let outcome = scan_all(&examiner, since, run.patience(PATIENCE_DEFAULT), &mut report).await;
    let findings = report.findings.kept().map(|finding| Finding {
        check: finding.check.as_str(),
        subject: finding.subject,
        detail: finding.detail,
    });
    Ok(Report {
        since,
        begun_at,
        took: started.elapsed(),
        rows: report.rows.iter().map(|(feed, rows)| (feed.to_string(), *rows)).collect(),
        findings: findings.collect(),
        total: report.findings.total(),
        under_way: report.under_way,
        error: outcome.err().map(|error| error.to_string()),
    })
}

async fn scan_all(
    examiner: &Examiner,
    since: Option<DateTime<Utc>>,
    patience: Duration,
    report: &mut RunReport,
) -> Result<(), ExamineError> {
    for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.has_sweep() || since.is_some()) {
        let mut place = Some(feed.start(since));
        while let Some(after) = place {
            let page = examiner.scan(feed, &after).await?;
            place = report.take(examiner, feed, page, patience).await?;
        }
    }
    report.confirm(examiner, patience).await
}
