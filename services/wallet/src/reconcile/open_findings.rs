//! Stored findings: a run checks them again, deletes resolved ones and adds new ones.

use std::time::Duration;

use domain::OrderId;
use postgres::StoreError;

use super::feed::Feed;
use super::findings::{Findings, KEPT_MAX};
use super::run::{Run, RunError};
use super::scanner::Candidates;
use crate::domain::Finding;
use crate::store::reconciliation::progress;

impl Run<'_> {
    pub(super) async fn recheck_ledger_findings(&mut self) -> Result<(), RunError> {
        for finding in self.open_findings().await? {
            let Some(table) = Feed::table_of(finding.check) else { continue };
            let result = self.scanner.check_again(table, &finding.subject).await?;
            if !result.findings.iter().any(|found| is_same(found, &finding)) {
                self.resolve(&finding).await?;
            }
            self.renew_lease().await?;
        }
        Ok(())
    }

    pub(super) async fn recheck_order_findings(&mut self) -> Result<(), RunError> {
        let open: Vec<(OrderId, Finding)> = self
            .open_findings()
            .await?
            .into_iter()
            .filter(|finding| Feed::table_of(finding.check).is_none())
            // An invalid order id stays a finding.
            .filter_map(|finding| Some((finding.subject.parse().ok()?, finding)))
            .collect();
        let mut candidates = Candidates::new();
        for (order, finding) in &open {
            candidates.entry(*order).or_default().insert(finding.check);
        }
        let recheck = self.scanner.recheck(candidates, Duration::ZERO).await?;
        let mut still_open = Findings::default();
        recheck.findings.into_iter().for_each(|finding| still_open.add(finding));
        for (_, finding) in open.iter().filter(|(_, finding)| !still_open.contains(finding)) {
            self.resolve(finding).await?;
        }
        Ok(())
    }

    /// Stores and logs new findings, up to the maximum number of open ones.
    pub(super) async fn save_findings(&self) -> Result<(), StoreError> {
        let now = self.scanner.clock.now();
        let database = &self.scanner.database;
        let known = self.open_findings().await?;
        let room = KEPT_MAX.saturating_sub(known.len());
        let is_new = |finding: &Finding| !known.iter().any(|known| is_same(known, finding));
        for finding in self.report.findings.kept().filter(is_new).take(room) {
            if database.read(async |conn| progress::save_finding(conn, &finding, now).await).await? {
                let Finding { check, subject, detail } = finding;
                tracing::error!(%check, subject, detail, "reconciliation found an inconsistency");
            }
        }
        Ok(())
    }

    async fn open_findings(&self) -> Result<Vec<Finding>, StoreError> {
        let limit = i64::try_from(KEPT_MAX).unwrap_or(i64::MAX);
        self.scanner.database.read(async |conn| progress::open_findings(conn, limit).await).await
    }

    async fn resolve(&self, finding: &Finding) -> Result<(), StoreError> {
        self.scanner.database.read(async |conn| progress::delete_finding(conn, finding).await).await?;
        tracing::info!(check = %finding.check, subject = finding.subject, "reconciliation finding resolved");
        Ok(())
    }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.check, &one.subject) == (other.check, &other.subject)
}
