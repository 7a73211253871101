//! Whose run it is, how far the books were looked through, and what is known to be wrong.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use crate::domain::{Check, Finding};
use crate::store::columns::{expect_rows, parse};
use crate::store::schema::{reconciliation_cursors, reconciliation_findings, reconciliation_runs};

/// How the last runs went.
#[derive(Clone, Debug, Queryable)]
pub(crate) struct LastRun {
    pub(crate) completed_at: Option<DateTime<Utc>>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) rows_checked: Option<i64>,
    pub(crate) under_way: i64,
}

/// Where looking goes on.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub(crate) struct Cursors {
    /// For what is new.
    pub(crate) recent: String,
    /// For the whole history.
    pub(crate) sweep: String,
    pub(crate) swept_at: Option<DateTime<Utc>>,
}

/// Takes the run that is due; false when none is, or another instance has it.
pub(crate) async fn claim_run(
    conn: &mut AsyncPgConnection,
    holder: &str,
    now: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let taken = diesel::update(reconciliation_runs::table)
        .filter(reconciliation_runs::next_at.le(now))
        .set((reconciliation_runs::next_at.eq(until), reconciliation_runs::holder.eq(holder)))
        .execute(conn)
        .await?;
    Ok(taken == 1)
}

/// Moves the end of this holder's run; false when the run is another's by now.
pub(crate) async fn extend_run(
    conn: &mut AsyncPgConnection,
    holder: &str,
    until: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let kept = diesel::update(reconciliation_runs::table)
        .filter(reconciliation_runs::holder.eq(holder))
        .set(reconciliation_runs::next_at.eq(until))
        .execute(conn)
        .await?;
    Ok(kept == 1)
}

/// Notes a run that looked at all it was to look at.
pub(crate) async fn note_completed(
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
    let touched = diesel::insert_into(reconciliation_cursors::table)
        .values((reconciliation_cursors::feed.eq(feed), values))
        .on_conflict(reconciliation_cursors::feed)
        .do_update()
        .set(values)
        .execute(conn)
        .await?;
    expect_rows("saving a cursor", 1, touched)
}

/// What is known to be wrong, up to `limit`.
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

/// Keeps a finding; false when it was known.
pub(crate) async fn keep_finding(
    conn: &mut AsyncPgConnection,
    finding: &Finding,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let kept = diesel::insert_into(reconciliation_findings::table)
        .values((
            reconciliation_findings::check_name.eq(finding.check.as_str()),
            reconciliation_findings::subject.eq(&finding.subject),
            reconciliation_findings::detail.eq(&finding.detail),
            reconciliation_findings::found_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(kept == 1)
}

/// Forgets what is right again.
pub(crate) async fn drop_finding(conn: &mut AsyncPgConnection, finding: &Finding) -> Result<(), StoreError> {
    diesel::delete(reconciliation_findings::table.find((finding.check.as_str(), &finding.subject)))
        .execute(conn)
        .await?;
    Ok(())
}

/// How many findings there are of each check; those without any are left out.
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
