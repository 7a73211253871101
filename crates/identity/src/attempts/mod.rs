//! Attempts that count against a rate limit. Stored in the database, because all instances share the limits.

mod limits;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use limits::retry_after;
pub use limits::{
    LOG_IN, LOG_IN_SUCCESS, LOG_IN_SUCCESS_ADDRESS, Limit, RESET, SECOND_FACTOR, Scope, Scopes, Subject,
};

use crate::schema::attempts;

/// A counted attempt. It can be cancelled when it turns out not to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt(i64);

#[derive(Debug)]
pub enum Admission {
    Granted(Vec<Attempt>),
    /// The limit of at least one subject is reached.
    RetryAfter(TimeDelta),
}

/// Counts an attempt for all subjects, or for none. Must run in a transaction, and before the attempt itself: of a hundred
/// simultaneous guesses, only as many as the limit are checked.
pub async fn admit(
    conn: &mut AsyncPgConnection,
    subjects: &[Subject],
    now: DateTime<Utc>,
) -> Result<Admission, StoreError> {
    let mut subjects = subjects.to_vec();
    // Lock in a fixed order to avoid deadlocks.
    subjects.sort_unstable_by_key(|subject| subject.lock_key());
    let mut longest_wait = None;
    for subject in &subjects {
        diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
            .bind::<BigInt, _>(subject.lock_key())
            .execute(conn)
            .await?;
        longest_wait = longest_wait.max(wait(conn, subject, now).await?);
    }
    if let Some(wait) = longest_wait {
        return Ok(Admission::RetryAfter(wait));
    }
    let rows: Vec<_> = subjects
        .iter()
        .map(|subject| {
            (
                attempts::scope.eq(subject.scope.name),
                attempts::subject.eq(subject.digest.to_vec()),
                attempts::attempted_at.eq(now),
            )
        })
        .collect();
    let ids: Vec<i64> =
        diesel::insert_into(attempts::table).values(rows).returning(attempts::id).get_results(conn).await?;
    Ok(Admission::Granted(ids.into_iter().map(Attempt).collect()))
}

/// How long the subject must wait, if its limit is reached.
pub async fn wait(
    conn: &mut AsyncPgConnection,
    subject: &Subject,
    now: DateTime<Utc>,
) -> Result<Option<TimeDelta>, StoreError> {
    let limit = subject.scope.limit;
    let earlier: Vec<DateTime<Utc>> = attempts::table
        .filter(attempts::scope.eq(subject.scope.name))
        .filter(attempts::subject.eq(subject.digest.to_vec()))
        .filter(attempts::attempted_at.gt(now - limit.window))
        .order(attempts::attempted_at.desc())
        .limit(i64::try_from(limit.max).unwrap_or(i64::MAX))
        .select(attempts::attempted_at)
        .load(conn)
        .await?;
    Ok(retry_after(&earlier, limit, now))
}

/// Counts an event regardless of the limit.
pub async fn record(
    conn: &mut AsyncPgConnection,
    subject: Subject,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(attempts::table)
        .values((
            attempts::scope.eq(subject.scope.name),
            attempts::subject.eq(subject.digest.to_vec()),
            attempts::attempted_at.eq(now),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Cancels attempts that succeeded, or failed because of an error in the service.
pub async fn cancel(conn: &mut AsyncPgConnection, counted: &[Attempt]) -> Result<(), StoreError> {
    let ids: Vec<i64> = counted.iter().map(|attempt| attempt.0).collect();
    diesel::delete(attempts::table.filter(attempts::id.eq_any(ids))).execute(conn).await?;
    Ok(())
}

/// Deletes all attempts of a subject.
pub async fn clear(conn: &mut AsyncPgConnection, subject: Subject) -> Result<(), StoreError> {
    diesel::delete(
        attempts::table
            .filter(attempts::scope.eq(subject.scope.name))
            .filter(attempts::subject.eq(subject.digest.to_vec())),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes at most `max` attempts that no limit counts any more, and returns how many.
pub async fn prune(conn: &mut AsyncPgConnection, now: DateTime<Utc>, max: i64) -> Result<usize, StoreError> {
    prune!(conn, max, attempts::id: i64, attempts::attempted_at.lt(now - Scope::WINDOW_MAX))
}
