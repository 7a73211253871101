//! What one pass over the feeds has brought so far.

use std::collections::BTreeMap;
use std::time::Duration;

use super::examine::{ExamineError, Examiner, Look, Settled, Suspects};
use super::feed::Feed;
use super::findings::Findings;

/// So many are gathered before they are looked at again, since that takes a while.
const SUSPECTS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rows: BTreeMap<Feed, i64>,
    pub(crate) findings: Findings,
    /// Steps between the services that are not done and too young to be missed.
    pub(crate) under_way: i64,
    suspects: Suspects,
}

impl Tally {
    /// Takes in what a look at a feed brought; gives the place where the next one begins.
    pub(crate) async fn take(
        &mut self,
        examiner: &Examiner,
        feed: Feed,
        look: Look,
        patience: Duration,
    ) -> Result<Option<String>, ExamineError> {
        *self.rows.entry(feed).or_default() += look.rows;
        self.findings.add_all(look.found);
        for (order, checks) in look.suspects {
            self.suspects.entry(order).or_default().extend(checks);
        }
        if self.suspects.len() >= SUSPECTS_MAX {
            self.settle(examiner, patience).await?;
        }
        Ok(look.next)
    }

    /// Looks at what seemed wrong again, until it is explained or believed.
    pub(crate) async fn settle(
        &mut self,
        examiner: &Examiner,
        patience: Duration,
    ) -> Result<(), ExamineError> {
        let suspects = std::mem::take(&mut self.suspects);
        let Settled { findings, under_way } = examiner.settle(suspects, patience).await?;
        findings.into_iter().for_each(|finding| self.findings.add(finding));
        self.under_way += under_way;
        Ok(())
    }

    pub(crate) fn rows_in_all(&self) -> i64 {
        self.rows.values().sum()
    }
}
