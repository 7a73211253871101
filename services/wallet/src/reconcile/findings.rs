//! Collects findings: each one once, up to a maximum, and their total number.

use std::collections::BTreeMap;

use crate::domain::{Check, Finding};
use crate::store::reconciliation::CheckResult;

/// Further findings are only counted.
pub(super) const KEPT_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: BTreeMap<(Check, String), String>,
    more: i64,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let Finding { check, subject, detail } = finding;
        if self.kept.len() < KEPT_MAX || self.kept.contains_key(&(check, subject.clone())) {
            self.kept.insert((check, subject), detail);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn add_all(&mut self, result: CheckResult) {
        let listed = i64::try_from(result.findings.len()).unwrap_or(i64::MAX);
        self.more += result.total - listed;
        result.findings.into_iter().for_each(|finding| self.add(finding));
    }

    pub(super) fn contains(&self, finding: &Finding) -> bool {
        self.kept.contains_key(&(finding.check, finding.subject.clone()))
    }

    pub(super) fn total(&self) -> i64 {
        i64::try_from(self.kept.len()).unwrap_or(i64::MAX).saturating_add(self.more)
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = Finding> {
        self.kept.iter().map(|((check, subject), detail)| Finding {
            check: *check,
            subject: subject.clone(),
            detail: detail.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(number: usize) -> Finding {
        Finding { check: Check::WalletBalanceWrong, subject: format!("biz_{number}"), detail: String::new() }
    }

    #[test]
    fn a_repeated_finding_counts_once_and_keeps_its_latest_detail() {
        let mut findings = Findings::default();
        assert_eq!(findings.total(), 0);
        findings.add(finding(1));
        findings.add(Finding { detail: "again".to_owned(), ..finding(1) });
        findings.add(finding(2));
        assert_eq!(findings.total(), 2);
        let kept: Vec<_> = findings.kept().map(|one| (one.check, one.subject, one.detail)).collect();
        let wrong = Check::WalletBalanceWrong;
        let expected =
            [(wrong, "biz_1".to_owned(), "again".to_owned()), (wrong, "biz_2".to_owned(), String::new())];
        assert_eq!(kept, expected);
        assert!(findings.contains(&finding(1)) && !findings.contains(&finding(3)));
        assert!(!findings.contains(&Finding { check: Check::RefundMissing, ..finding(1) }));
    }

    #[test]
    fn findings_beyond_the_maximum_are_counted() {
        let mut findings = Findings::default();
        (0..KEPT_MAX + 5).for_each(|number| findings.add(finding(number)));
        // Known findings are not counted again.
        findings.add(finding(0));
        findings.add_all(CheckResult { findings: vec![finding(1), finding(KEPT_MAX + 9)], total: 12 });
        assert_eq!(findings.kept().count(), KEPT_MAX);
        assert_eq!(findings.total(), i64::try_from(KEPT_MAX).unwrap() + 5 + 10 + 1);
    }
}
