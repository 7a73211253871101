//! Log-ins and sign-ups that count against a limit. In the database, so that all instances count together.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::schema::attempts;
use crate::domain::{Scope, Subject, wait_until_allowed};

/// One counted attempt, to be taken back when it turns out not to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt(i64);

/// What came of asking for an attempt.
#[derive(Debug)]
pub(crate) enum Allowed {
    Yes(Vec<Attempt>),
    /// Too many in too short a time, for one of the subjects at least.
    After(TimeDelta),
}

/// Counts an attempt for each of the subjects, or for none of them. It is counted before it is made: of a hundred
/// guesses sent at once, no more than the limit are looked at. Belongs into a transaction.
pub(crate) async fn begin(
    conn: &mut AsyncPgConnection,
    subjects: &[Subject],
    now: DateTime<Utc>,
) -> Result<Allowed, StoreError> {
    let mut subjects = subjects.to_vec();
    // Always in the same order, so that two attempts never wait for each other.
    subjects.sort_unstable_by_key(|subject| subject.lock_number());
    let mut longest_wait = None;
    for subject in &subjects {
        diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
            .bind::<BigInt, _>(subject.lock_number())
            .execute(conn)
            .await?;
        longest_wait = longest_wait.max(wait(conn, subject, now).await?);
    }
    if let Some(wait) = longest_wait {
        return Ok(Allowed::After(wait));
    }
    let rows: Vec<_> = subjects
        .iter()
        .map(|subject| {
            (
                attempts::scope.eq(<&str>::from(subject.scope)),
                attempts::subject.eq(subject.digest.to_vec()),
                attempts::attempted_at.eq(now),
            )
        })
        .collect();
    let ids: Vec<i64> =
        diesel::insert_into(attempts::table).values(rows).returning(attempts::id).get_results(conn).await?;
    Ok(Allowed::Yes(ids.into_iter().map(Attempt).collect()))
}

/// How long the subject has to wait, if it has tried too often.
pub(crate) async fn wait(
    conn: &mut AsyncPgConnection,
    subject: &Subject,
    now: DateTime<Utc>,
) -> Result<Option<TimeDelta>, StoreError> {
    let limit = subject.scope.limit();
    let earlier: Vec<DateTime<Utc>> = attempts::table
        .filter(attempts::scope.eq(<&str>::from(subject.scope)))
        .filter(attempts::subject.eq(subject.digest.to_vec()))
        .filter(attempts::attempted_at.gt(now - limit.window))
        .order(attempts::attempted_at.desc())
        .limit(i64::try_from(limit.max).unwrap_or(i64::MAX))
        .select(attempts::attempted_at)
        .load(conn)
        .await?;
    Ok(wait_until_allowed(&earlier, limit, now))
}

/// Counts what has happened.
pub(crate) async fn note(
    conn: &mut AsyncPgConnection,
    subject: Subject,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(attempts::table)
        .values((
            attempts::scope.eq(<&str>::from(subject.scope)),
            attempts::subject.eq(subject.digest.to_vec()),
            attempts::attempted_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Takes attempts back: they did not fail, or not by the caller's fault.
pub(crate) async fn take_back(conn: &mut AsyncPgConnection, counted: &[Attempt]) -> Result<(), StoreError> {
    let ids: Vec<i64> = counted.iter().map(|attempt| attempt.0).collect();
    diesel::delete(attempts::table.filter(attempts::id.eq_any(ids))).execute(conn).await?;
    Ok(())
}

/// Forgets a subject's earlier attempts.
pub(crate) async fn forget(conn: &mut AsyncPgConnection, subject: Subject) -> Result<(), StoreError> {
    diesel::delete(
        attempts::table
            .filter(attempts::scope.eq(<&str>::from(subject.scope)))
            .filter(attempts::subject.eq(subject.digest.to_vec())),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes at most `max` attempts that count nowhere any more; tells how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, attempts::id: i64, attempts::attempted_at.lt(now - Scope::WINDOW_MAX))
}
