//! What one pass over the feeds has brought so far.

use std::collections::BTreeMap;
use std::time::Duration;

use super::examine::{Candidates, Confirmed, ExamineError, Examiner, ScanPage};
use super::feed::Feed;
use super::findings::Findings;

/// So many are gathered before they are looked at again, since that takes a while.
const SUSPECTS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct RunReport {
    pub(crate) rows: BTreeMap<Feed, i64>,
    pub(crate) findings: Findings,
    /// Steps between the services that are not done and too young to be missed.
    pub(crate) under_way: i64,
    candidates: Candidates,
}

impl RunReport {
    /// Takes in what a look at a feed brought; gives the place where the next one begins.
    pub(crate) async fn take(
        &mut self,
        examiner: &Examiner,
        feed: Feed,
        page: ScanPage,
        patience: Duration,
    ) -> Result<Option<String>, ExamineError> {
        *self.rows.entry(feed).or_default() += page.rows;
        self.findings.add_all(page.found);
        for (order, checks) in page.candidates {
            self.candidates.entry(order).or_default().extend(checks);
        }
        if self.candidates.len() >= SUSPECTS_MAX {
            self.confirm(examiner, patience).await?;
        }
        Ok(page.next)
    }

    /// Looks at what seemed wrong again, until it is explained or believed.
    pub(crate) async fn confirm(
        &mut self,
        examiner: &Examiner,
        patience: Duration,
    ) -> Result<(), ExamineError> {
        let candidates = std::mem::take(&mut self.candidates);
        let Confirmed { findings, under_way } = examiner.confirm(candidates, patience).await?;
        findings.into_iter().for_each(|finding| self.findings.add(finding));
        self.under_way += under_way;
        Ok(())
    }

    pub(crate) fn rows_in_all(&self) -> i64 {
        self.rows.values().sum()
    }
}
