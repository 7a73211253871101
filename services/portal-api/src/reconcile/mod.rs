//! `portal-api reconcile`: compares this service's records of businesses with the services that own their keys, endpoints,
//! orders and wallets. They differ after a database was restored to an earlier time. The audit log is the reference. The
//! command changes nothing: people decide which record is right.

mod collect;
mod discrepancies;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::{Duration, Instant};

use collect::{CollectError, Collector, Owner};
use domain::{BusinessId, Clock};
use postgres::Database;
use reconciliation::{Finding, Report};
use tokio::time::sleep;

use crate::peers::Peers;

/// Candidates that are checked again together, because the check waits first.
const CANDIDATES_MAX: usize = 1_000;
/// Listed findings. Further ones are only counted.
const LISTED_MAX: usize = 1_000;

/// Checks all businesses. An interrupted run is reported with its error.
pub(crate) async fn run(
    database: Database,
    peers: Peers,
    patience: Duration,
) -> Result<Report, CollectError> {
    let (begun_at, started) = (Clock::system().now(), Instant::now());
    let collector = Collector::new(database, peers).await?;
    let mut report = RunReport::default();
    let outcome = check_all(&collector, patience, &mut report).await;
    let rows = report.rows.into_iter().map(|(name, rows)| (name.to_owned(), rows));
    Ok(Report {
        since: None,
        begun_at,
        took: started.elapsed(),
        rows: rows.collect(),
        findings: report.findings,
        total: report.found,
        under_way: 0,
        error: outcome.err().map(|error| error.to_string()),
    })
}

#[derive(Default)]
struct RunReport {
    rows: BTreeMap<&'static str, i64>,
    findings: Vec<Finding>,
    found: i64,
}

impl RunReport {
    fn add_rows(&mut self, name: &'static str, rows: usize) {
        *self.rows.entry(name).or_default() += i64::try_from(rows).unwrap_or(i64::MAX);
    }

    fn add(&mut self, finding: Finding) {
        self.found += 1;
        if self.findings.len() < LISTED_MAX {
            self.findings.push(finding);
        }
    }
}

async fn check_all(
    collector: &Collector,
    patience: Duration,
    report: &mut RunReport,
) -> Result<(), CollectError> {
    find_unknown_businesses(collector, report).await?;
    let mut candidates: BTreeMap<BusinessId, Vec<Finding>> = BTreeMap::new();
    let mut after = String::new();
    loop {
        let businesses = collector.businesses(&after).await?;
        let Some(last) = businesses.last() else { break };
        after = last.to_string();
        report.add_rows("businesses", businesses.len());
        for business in businesses {
            let checked = collector.check(business).await?;
            report.add_rows("keys", checked.keys);
            report.add_rows("endpoints", checked.endpoints);
            if !checked.findings.is_empty() {
                candidates.insert(business, checked.findings);
            }
        }
        if candidates.len() >= CANDIDATES_MAX {
            confirm(collector, patience, std::mem::take(&mut candidates), report).await?;
        }
    }
    confirm(collector, patience, candidates, report).await
}

/// Finds businesses that other services have records of, and this service has not.
async fn find_unknown_businesses(collector: &Collector, report: &mut RunReport) -> Result<(), CollectError> {
    let mut unknown: BTreeMap<String, Finding> = BTreeMap::new();
    for owner in Owner::ALL {
        let mut after = None;
        loop {
            let (page, found) = collector.businesses_of(owner, after).await?;
            for finding in found {
                let is_full = unknown.len() >= LISTED_MAX;
                match unknown.entry(finding.subject.clone()) {
                    Entry::Occupied(mut earlier) => {
                        let earlier = earlier.get_mut();
                        earlier.detail = format!("{}, {}", earlier.detail, finding.detail);
                    }
                    Entry::Vacant(_) if is_full => report.found += 1,
                    Entry::Vacant(entry) => {
                        entry.insert(finding);
                    }
                }
            }
            after = page.data.last().copied();
            if !page.has_more {
                break;
            }
        }
    }
    unknown.into_values().for_each(|finding| report.add(finding));
    Ok(())
}

/// Checks the candidates again after a pause, and keeps the findings that persist. Changes in transit have arrived by then.
async fn confirm(
    collector: &Collector,
    patience: Duration,
    candidates: BTreeMap<BusinessId, Vec<Finding>>,
    report: &mut RunReport,
) -> Result<(), CollectError> {
    if !candidates.is_empty() {
        sleep(patience).await;
    }
    for (business, findings) in candidates {
        let before: BTreeSet<Finding> = findings.into_iter().collect();
        let now = collector.check(business).await?.findings;
        now.into_iter().filter(|finding| before.contains(finding)).for_each(|finding| report.add(finding));
    }
    Ok(())
}
