//! `portal-api reconcile [--patience <seconds>] [--json]`: looks through all businesses, tells what it looked at and what
//! differs, and writes nothing.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use domain::{BusinessId, Clock};
use postgres::Database;
use reconciliation::{Finding, Report, RunArguments};
use tokio::time::sleep;

use super::gather::{GatherError, Gatherer, Owner};
use crate::peers::Peers;
use crate::settings::PortalSettings;

/// Longer than it takes from a key that was made to the line that tells of it.
const PATIENCE_DEFAULT: Duration = Duration::from_secs(10);
/// So many businesses are gathered before they are looked at again, since that takes a while.
const SUSPECTS_MAX: usize = 1_000;
/// Enough to see what is wrong; the rest is only counted.
const KEPT_MAX: usize = 1_000;

/// Runs the command and prints to `out`.
pub fn main(arguments: RunArguments, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &PortalSettings| {
        reconcile(settings, arguments.patience(PATIENCE_DEFAULT)).await
    });
    Report::conclude(outcome, arguments.json, out)
}

async fn reconcile(settings: &PortalSettings, patience: Duration) -> anyhow::Result<Report> {
    let (begun_at, started) = (Clock::system().now(), Instant::now());
    let peers = Peers::new(&settings.peers, &settings.internal)?;
    let gatherer = Gatherer::new(Database::new(&settings.database)?, peers).await?;
    let mut tally = Tally::default();
    let outcome = look_through(&gatherer, patience, &mut tally).await;
    let rows = tally.rows.into_iter().map(|(what, rows)| (what.to_owned(), rows));
    Ok(Report {
        since: None,
        begun_at,
        took: started.elapsed(),
        rows: rows.collect(),
        findings: tally.kept,
        total: tally.total,
        under_way: 0,
        error: outcome.err().map(|error| error.to_string()),
    })
}

#[derive(Default)]
struct Tally {
    rows: BTreeMap<&'static str, i64>,
    kept: Vec<Finding>,
    total: i64,
}

impl Tally {
    fn looked_at(&mut self, what: &'static str, rows: usize) {
        *self.rows.entry(what).or_default() += i64::try_from(rows).unwrap_or(i64::MAX);
    }

    fn add(&mut self, finding: Finding) {
        self.total += 1;
        if self.kept.len() < KEPT_MAX {
            self.kept.push(finding);
        }
    }
}

async fn look_through(gatherer: &Gatherer, patience: Duration, tally: &mut Tally) -> Result<(), GatherError> {
    look_for_strangers(gatherer, tally).await?;
    let mut suspects: BTreeMap<BusinessId, Vec<Finding>> = BTreeMap::new();
    let mut behind = String::new();
    loop {
        let businesses = gatherer.businesses(&behind).await?;
        let Some(last) = businesses.last() else { break };
        behind = last.to_string();
        tally.looked_at("businesses", businesses.len());
        for business in businesses {
            let looked = gatherer.look(business).await?;
            tally.looked_at("keys", looked.keys);
            tally.looked_at("endpoints", looked.endpoints);
            if !looked.differences.is_empty() {
                suspects.insert(business, looked.differences);
            }
        }
        if suspects.len() >= SUSPECTS_MAX {
            settle(gatherer, patience, std::mem::take(&mut suspects), tally).await?;
        }
    }
    settle(gatherer, patience, suspects, tally).await
}

/// Businesses that others have something of, and this service does not know.
async fn look_for_strangers(gatherer: &Gatherer, tally: &mut Tally) -> Result<(), GatherError> {
    let mut unknown: BTreeMap<String, Finding> = BTreeMap::new();
    for owner in Owner::ALL {
        let mut behind = None;
        loop {
            let (page, found) = gatherer.businesses_of(owner, behind).await?;
            for finding in found {
                let is_full = unknown.len() >= KEPT_MAX;
                match unknown.entry(finding.subject.clone()) {
                    Entry::Occupied(mut told) => {
                        let told = told.get_mut();
                        told.detail = format!("{}, {}", told.detail, finding.detail);
                    }
                    Entry::Vacant(_) if is_full => tally.total += 1,
                    Entry::Vacant(place) => {
                        place.insert(finding);
                    }
                }
            }
            behind = page.data.last().copied();
            if !page.has_more {
                break;
            }
        }
    }
    unknown.into_values().for_each(|finding| tally.add(finding));
    Ok(())
}

/// Looks again: what was under way is there by now.
async fn settle(
    gatherer: &Gatherer,
    patience: Duration,
    suspects: BTreeMap<BusinessId, Vec<Finding>>,
    tally: &mut Tally,
) -> Result<(), GatherError> {
    if !suspects.is_empty() {
        sleep(patience).await;
    }
    for (business, found) in suspects {
        let before: BTreeSet<Finding> = found.into_iter().collect();
        let now = gatherer.look(business).await?.differences;
        now.into_iter().filter(|finding| before.contains(finding)).for_each(|finding| tally.add(finding));
    }
    Ok(())
}
