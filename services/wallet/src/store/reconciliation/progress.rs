//! The lease of the current run, the cursors of the scans, and the open findings.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use crate::domain::{Check, Finding};
use crate::store::columns::{expect_rows, parse};
use crate::store::schema::{reconciliation_cursors, reconciliation_findings, reconciliation_runs};

/// The last completed run.
#[derive(Clone, Debug, Queryable)]
pub(crate) struct LastRun {
    pub(crate) completed_at: Option<DateTime<Utc>>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) rows_checked: Option<i64>,
    pub(crate) under_way: i64,
}

/// Where the next scans start.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub(crate) struct Cursors {
    /// Of new rows.
    pub(crate) recent: String,
    /// Of the whole history.
    pub(crate) sweep: String,
    pub(crate) swept_at: Option<DateTime<Utc>>,
}

/// Claims the run that is due. False if none is due, or another instance has claimed it.
pub(crate) async fn claim_run(
    conn: &mut AsyncPgConnection,
    holder: &str,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let claimed = diesel::update(reconciliation_runs::table)
        .filter(reconciliation_runs::next_at.le(now))
        .set((reconciliation_runs::next_at.eq(until), reconciliation_runs::holder.eq(holder)))
        .execute(conn)
        .await?;
    Ok(claimed == 1)
}

/// Extends the lease of this holder, or sets the time of the next run. False if another instance has claimed the run.
pub(crate) async fn renew_lease(
    conn: &mut AsyncPgConnection,
    holder: &str,
    until: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = diesel::update(reconciliation_runs::table)
        .filter(reconciliation_runs::holder.eq(holder))
        .set(reconciliation_runs::next_at.eq(until))
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

/// Records a completed run.
pub(crate) async fn save_completed_run(
    conn: &mut AsyncPgConnection,
    holder: &str,
    run: &LastRun,
) -> Result<(), StoreError> {
    diesel::update(reconciliation_runs::table)
        .filter(reconciliation_runs::holder.eq(holder))
        .set((
            reconciliation_runs::completed_at.eq(run.completed_at),
            reconciliation_runs::duration_ms.eq(run.duration_ms),
            reconciliation_runs::rows_checked.eq(run.rows_checked),
            reconciliation_runs::under_way.eq(run.under_way),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn last_run(conn: &mut AsyncPgConnection) -> Result<LastRun, StoreError> {
    let columns = (
        reconciliation_runs::completed_at,
        reconciliation_runs::duration_ms,
        reconciliation_runs::rows_checked,
        reconciliation_runs::under_way,
    );
    Ok(reconciliation_runs::table.select(columns).first(conn).await?)
}

pub(crate) async fn cursors(conn: &mut AsyncPgConnection) -> Result<BTreeMap<String, Cursors>, StoreError> {
    type Row = (String, String, String, Option<DateTime<Utc>>);
    let rows: Vec<Row> = reconciliation_cursors::table.load(conn).await?;
    let of = |(feed, recent, sweep, swept_at)| (feed, Cursors { recent, sweep, swept_at });
    Ok(rows.into_iter().map(of).collect())
}

pub(crate) async fn save_cursors(
    conn: &mut AsyncPgConnection,
    feed: &str,
    cursors: &Cursors,
) -> Result<(), StoreError> {
    let values = (
        reconciliation_cursors::recent.eq(&cursors.recent),
        reconciliation_cursors::sweep.eq(&cursors.sweep),
        reconciliation_cursors::swept_at.eq(cursors.swept_at),
    );
    let changed = diesel::insert_into(reconciliation_cursors::table)
        .values((reconciliation_cursors::feed.eq(feed), values))
        .on_conflict(reconciliation_cursors::feed)
        .do_update()
        .set(values)
        .execute(conn)
        .await?;
    expect_rows("saving a cursor", 1, changed)
}

/// Up to `limit` open findings.
pub(crate) async fn open_findings(
    conn: &mut AsyncPgConnection,
    limit: i64,
) -> Result<Vec<Finding>, StoreError> {
    let rows: Vec<(String, String, String)> = reconciliation_findings::table
        .order((reconciliation_findings::check_name, reconciliation_findings::subject))
        .limit(limit)
        .select((
            reconciliation_findings::check_name,
            reconciliation_findings::subject,
            reconciliation_findings::detail,
        ))
        .load(conn)
        .await?;
    let finding = |(check, subject, detail): (String, String, String)| {
        Ok(Finding { check: parse("reconciliation_findings.check_name", &check)?, subject, detail })
    };
    rows.into_iter().map(finding).collect()
}

/// Stores a finding. False if it was stored before.
pub(crate) async fn save_finding(
    conn: &mut AsyncPgConnection,
    finding: &Finding,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = diesel::insert_into(reconciliation_findings::table)
        .values((
            reconciliation_findings::check_name.eq(finding.check.as_str()),
            reconciliation_findings::subject.eq(&finding.subject),
            reconciliation_findings::detail.eq(&finding.detail),
            reconciliation_findings::found_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

pub(crate) async fn delete_finding(
    conn: &mut AsyncPgConnection,
    finding: &Finding,
) -> Result<(), StoreError> {
    diesel::delete(reconciliation_findings::table.find((finding.check.as_str(), &finding.subject)))
        .execute(conn)
        .await?;
    Ok(())
}

/// The number of findings per check. Omits checks without findings.
pub(crate) async fn count_findings(conn: &mut AsyncPgConnection) -> Result<BTreeMap<Check, i64>, StoreError> {
    let rows: Vec<(String, i64)> = reconciliation_findings::table
        .group_by(reconciliation_findings::check_name)
        .select((reconciliation_findings::check_name, diesel::dsl::count_star()))
        .load(conn)
        .await?;
    let count =
        |(check, count): (String, i64)| Ok((parse("reconciliation_findings.check_name", &check)?, count));
    rows.into_iter().map(count).collect()
}
