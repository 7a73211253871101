//! The results of one run so far.

use std::collections::BTreeMap;
use std::time::Duration;

use super::feed::Feed;
use super::findings::Findings;
use super::scanner::{Candidates, Recheck, ScanError, ScanPage, Scanner};

/// Candidates are checked again in batches of this size, because each check waits.
const CANDIDATES_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct RunReport {
    pub(super) rows: BTreeMap<Feed, i64>,
    pub(super) findings: Findings,
    /// Missing steps between the services that are too recent to be findings.
    pub(super) under_way: i64,
    candidates: Candidates,
}

impl RunReport {
    /// Adds a page and returns the cursor of the next one.
    pub(super) async fn add_page(
        &mut self,
        scanner: &Scanner,
        feed: Feed,
        page: ScanPage,
        patience: Duration,
    ) -> Result<Option<String>, ScanError> {
        *self.rows.entry(feed).or_default() += page.rows;
        self.findings.add_all(page.result);
        for (order, checks) in page.candidates {
            self.candidates.entry(order).or_default().extend(checks);
        }
        if self.candidates.len() >= CANDIDATES_MAX {
            self.recheck_candidates(scanner, patience).await?;
        }
        Ok(page.next)
    }

    /// Checks the candidates again until each is resolved, a finding, or under way.
    pub(super) async fn recheck_candidates(
        &mut self,
        scanner: &Scanner,
        patience: Duration,
    ) -> Result<(), ScanError> {
        let candidates = std::mem::take(&mut self.candidates);
        let Recheck { findings, under_way } = scanner.recheck(candidates, patience).await?;
        findings.into_iter().for_each(|finding| self.findings.add(finding));
        self.under_way += under_way;
        Ok(())
    }

    pub(super) fn total_rows(&self) -> i64 {
        self.rows.values().sum()
    }
}
