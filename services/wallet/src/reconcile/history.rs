//! One complete check of the history, for `wallet reconcile`.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use reconciliation::{Finding, Report};
use strum::VariantArray;

use super::feed::Feed;
use super::report::RunReport;
use super::scanner::{ScanError, Scanner};

pub(super) async fn check(scanner: &Scanner, since: Option<DateTime<Utc>>, patience: Duration) -> Report {
    let (begun_at, started) = (scanner.clock.now(), Instant::now());
    let mut report = RunReport::default();
    let outcome = scan(scanner, since, patience, &mut report).await;
    let findings = report.findings.kept().map(|finding| Finding {
        check: finding.check.as_str(),
        subject: finding.subject,
        detail: finding.detail,
    });
    Report {
        since,
        begun_at,
        took: started.elapsed(),
        rows: report.rows.iter().map(|(feed, rows)| (feed.to_string(), *rows)).collect(),
        findings: findings.collect(),
        total: report.findings.total(),
        under_way: report.under_way,
        error: outcome.err().map(|error| error.to_string()),
    }
}

async fn scan(
    scanner: &Scanner,
    since: Option<DateTime<Utc>>,
    patience: Duration,
    report: &mut RunReport,
) -> Result<(), ScanError> {
    for feed in Feed::VARIANTS.iter().copied().filter(|feed| feed.has_sweep() || since.is_some()) {
        let mut cursor = Some(feed.start(since));
        while let Some(after) = cursor {
            let page = scanner.scan(feed, &after).await?;
            cursor = report.add_page(scanner, feed, page, patience).await?;
        }
    }
    report.recheck_candidates(scanner, patience).await
}
