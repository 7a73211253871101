//! Looking through the books (SPECIFICATION §14), of all businesses at once: so nothing in here names one. Reads go by
//! ranges of ids, each short, and take no lock that a debit would wait for.

mod checks;
mod orders;
pub(crate) mod progress;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use postgres::{StoreError, statement};

pub(crate) use checks::{BooksFeed, checks_of};
pub(crate) use orders::{books_of, orders_moving_money, orders_with_cash, orders_with_debits};

use crate::domain::{Check, Finding};

/// Told of one check in one range; there may be more, which are counted.
const FINDINGS_MAX: i64 = 100;

/// Sorts behind every id.
pub(crate) const END: &str = "~";

/// Keeps each statement to look-ups by index, planned for the range at hand: a plan that was made for another range, or
/// while a table was small, would read the whole of a table.
const PLANNED_FOR_RANGES: &str = "SET TRANSACTION READ ONLY; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL plan_cache_mode = force_custom_plan";

/// Ids behind `after`, up to `until` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) after: String,
    pub(crate) until: String,
}

impl Span {
    /// One id, and those that share all but its last character and sort before it: looking at them too does no harm.
    pub(crate) fn of(subject: &str) -> Self {
        let mut after = subject.to_owned();
        after.pop();
        Self { after, until: subject.to_owned() }
    }
}

/// The next piece of a table.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) span: Span,
    pub(crate) rows: i64,
    pub(crate) is_last: bool,
}

/// What was found in one span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    /// How many there are, with those that are not told.
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

/// Prepares the transaction that reads ranges.
pub(crate) async fn begin(conn: &mut AsyncPgConnection) -> Result<(), StoreError> {
    Ok(conn.batch_execute(PLANNED_FOR_RANGES).await?)
}

/// The next `limit` rows behind `after`, and all that lies between them.
pub(crate) async fn next_chunk(
    conn: &mut AsyncPgConnection,
    feed: BooksFeed,
    after: &str,
    limit: i64,
) -> Result<Chunk, StoreError> {
    let end: EndRow = statement(feed.end_of_chunk())
        .bind::<Text, _>(after)
        .bind::<BigInt, _>(limit)
        .get_result(conn)
        .await?;
    let is_last = end.rows < limit;
    let until = end.until.filter(|_| !is_last).unwrap_or_else(|| END.to_owned());
    Ok(Chunk { span: Span { after: after.to_owned(), until }, rows: end.rows, is_last })
}

/// Runs a feed's checks over a span.
pub(crate) async fn check(
    conn: &mut AsyncPgConnection,
    feed: BooksFeed,
    span: &Span,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    for (check, sql) in checks_of(feed) {
        run_check(conn, *check, sql, span, &mut found).await?;
    }
    Ok(found)
}

async fn run_check(
    conn: &mut AsyncPgConnection,
    check: Check,
    sql: &'static str,
    span: &Span,
    found: &mut Found,
) -> Result<(), StoreError> {
    let rows: Vec<FindingRow> = statement(sql)
        .bind::<Text, _>(&span.after)
        .bind::<Text, _>(&span.until)
        .bind::<BigInt, _>(FINDINGS_MAX)
        .load(conn)
        .await?;
    found.total += rows.as_slice().first().map_or(0, |row| row.total);
    let findings = rows.into_iter().map(|row| Finding { check, subject: row.subject, detail: row.detail });
    found.findings.extend(findings);
    Ok(())
}
