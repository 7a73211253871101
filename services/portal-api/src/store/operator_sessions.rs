//! The operator's sessions, stored by a digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::schema::operator_sessions;

/// Inserts a session, and ends the oldest ones beyond `max`.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    max: i64,
) -> Result<(), StoreError> {
    diesel::insert_into(operator_sessions::table)
        .values((
            operator_sessions::token_hash.eq(digest.to_vec()),
            operator_sessions::created_at.eq(created_at),
            operator_sessions::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    let too_many: Vec<Vec<u8>> = operator_sessions::table
        .order((operator_sessions::created_at.desc(), operator_sessions::token_hash))
        .offset(max)
        .select(operator_sessions::token_hash)
        .load(conn)
        .await?;
    if !too_many.is_empty() {
        diesel::delete(operator_sessions::table.filter(operator_sessions::token_hash.eq_any(too_many)))
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// When the session ends; `None` if it has ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    Ok(operator_sessions::table
        .find(digest.to_vec())
        .filter(operator_sessions::expires_at.gt(now))
        .select(operator_sessions::expires_at)
        .first(conn)
        .await
        .optional()?)
}

/// Ends a session. False if there was none.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, digest: [u8; 32]) -> Result<bool, StoreError> {
    let removed = diesel::delete(operator_sessions::table.find(digest.to_vec())).execute(conn).await?;
    Ok(removed == 1)
}

/// Deletes at most `max` ended sessions, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, operator_sessions::token_hash: Vec<u8>, operator_sessions::expires_at.le(now))
}
