//! What was found: each thing once, so many of them, and how many there are in all.

use std::collections::BTreeMap;

use crate::domain::{Check, Finding};
use crate::store::reconciliation::Found;

/// Enough to see what is wrong; of books that are wrong throughout, the rest is only counted.
pub(crate) const KEPT_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: BTreeMap<(Check, String), String>,
    more: i64,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        let Finding { check, subject, detail } = finding;
        if self.kept.len() < KEPT_MAX || self.kept.contains_key(&(check, subject.clone())) {
            self.kept.insert((check, subject), detail);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn add_all(&mut self, found: Found) {
        let told = i64::try_from(found.findings.len()).unwrap_or(i64::MAX);
        self.more += found.total - told;
        found.findings.into_iter().for_each(|finding| self.add(finding));
    }

    pub(crate) fn contains(&self, finding: &Finding) -> bool {
        self.kept.contains_key(&(finding.check, finding.subject.clone()))
    }

    pub(crate) fn total(&self) -> i64 {
        i64::try_from(self.kept.len()).unwrap_or(i64::MAX).saturating_add(self.more)
    }

    pub(crate) fn kept(&self) -> impl Iterator<Item = Finding> {
        self.kept.iter().map(|((check, subject), detail)| Finding {
            check: *check,
            subject: subject.clone(),
            detail: detail.clone(),
        })
    }
}
