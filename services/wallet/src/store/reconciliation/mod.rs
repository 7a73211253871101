//! Scans the ledger (SPECIFICATION §14.1-2) across all businesses, in short ranges of ids, without locks that debits would
//! wait for.

mod checks;
mod orders;
pub(crate) mod progress;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use postgres::{StoreError, statement};

pub(crate) use checks::{LedgerTable, checks_of};
pub(crate) use orders::{ledger_of, orders_with_cash, orders_with_debits, orders_with_transfers};

use crate::domain::{Check, Finding};

/// Findings per check and range. Further ones are only counted.
const FINDINGS_MAX: i64 = 100;

/// Sorts after every id.
pub(crate) const END: &str = "~";

/// Makes each statement use indexes, with a plan for its own range. A cached plan for another range or a small table would
/// read whole tables.
const PLANNED_FOR_RANGES: &str = "SET TRANSACTION READ ONLY; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_custom_plan";

/// Ids after `after`, up to and including `until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdRange {
    pub(crate) after: String,
    pub(crate) until: String,
}

impl IdRange {
    /// One id. The range may include other ids that differ only in the last character, which is harmless.
    pub(crate) fn of(subject: &str) -> Self {
        let mut after = subject.to_owned();
        after.pop();
        Self { after, until: subject.to_owned() }
    }
}

/// A range of a table.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) range: IdRange,
    pub(crate) rows: i64,
    pub(crate) is_last: bool,
}

/// The findings of one range.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckResult {
    pub(crate) findings: Vec<Finding>,
    /// Includes findings that are not listed.
    pub(crate) total: i64,
}

#[derive(QueryableByName)]
struct EndRow {
    #[diesel(sql_type = Nullable<Text>)]
    until: Option<String>,
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

#[derive(QueryableByName)]
struct FindingRow {
    #[diesel(sql_type = Text)]
    subject: String,
    #[diesel(sql_type = Text)]
    detail: String,
    #[diesel(sql_type = BigInt)]
    total: i64,
}

/// Prepares a transaction for scanning.
pub(crate) async fn prepare(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    Ok(conn.batch_execute(PLANNED_FOR_RANGES).await?)
}

/// The range of the next `limit` rows after `after`.
pub(crate) async fn next_chunk(
    conn: &mut AsyncPgConnection,
    table: LedgerTable,
    after: &str,
    limit: i64,
) -> Result<Chunk, StoreError> {
    let end: EndRow = statement(table.end_of_chunk())
        .bind::<Text, _>(after)
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    let is_last = end.rows < limit;
    let until = end.until.filter(|_| !is_last).unwrap_or_else(|| END.to_owned());
    Ok(Chunk { range: IdRange { after: after.to_owned(), until }, rows: end.rows, is_last })
}

/// Runs the checks of a table on a range.
pub(crate) async fn check(
    conn: &mut AsyncPgConnection,
    table: LedgerTable,
    range: &IdRange,
) -> Result<CheckResult, StoreError> {
    let mut result = CheckResult::default();
    for (check, sql) in checks_of(table) {
        run_check(conn, *check, sql, range, &mut result).await?;
    }
    Ok(result)
}

async fn run_check(
    conn: &mut AsyncPgConnection,
    check: Check,
    sql: &'static str,
    range: &IdRange,
    result: &mut CheckResult,
) -> Result<(), StoreError> {
    let rows: Vec<FindingRow> = statement(sql)
        .bind::<Text, _>(&range.after)
        .bind::<Text, _>(&range.until)
        .bind::<BigInt, _>(FINDINGS_MAX)
        .load(conn)
        .await?;
    result.total += rows.as_slice().first().map_or(0, |row| row.total);
    let findings = rows.into_iter().map(|row| Finding { check, subject: row.subject, detail: row.detail });
    result.findings.extend(findings);
    Ok(())
}
