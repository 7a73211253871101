//! The operator's sessions, stored by a digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::schema::operator_sessions;
use super::sessions::Origin;
use crate::domain::{CallerAddress, OpenAt};

/// Inserts a session, and ends the oldest ones beyond `max`.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    origin: &Origin<'_>,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
    max: i64,
) -> Result<(), StoreError> {
    diesel::insert_into(operator_sessions::table)
        .values((
            operator_sessions::token_hash.eq(digest.to_vec()),
            operator_sessions::created_at.eq(now),
            operator_sessions::expires_at.eq(expires_at),
            operator_sessions::last_seen_at.eq(now),
            operator_sessions::address.eq(origin.address.map(CallerAddress::as_str)),
            operator_sessions::user_agent.eq(origin.user_agent),
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

/// An open session of the configured token.
pub(crate) struct TokenSession {
    pub(crate) created_at: DateTime<Utc>,
    /// Even when in use.
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) last_seen_at: DateTime<Utc>,
}

/// When the session was opened, ends, and was last used.
type Times = (DateTime<Utc>, DateTime<Utc>, DateTime<Utc>);

/// `None` if it has ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    open: OpenAt,
) -> Result<Option<TokenSession>, StoreError> {
    let row: Option<Times> = operator_sessions::table
        .find(digest.to_vec())
        .filter(operator_sessions::expires_at.gt(open.now))
        .filter(operator_sessions::created_at.gt(open.created_after))
        .filter(operator_sessions::last_seen_at.gt(open.used_after))
        .select((
            operator_sessions::created_at,
            operator_sessions::expires_at,
            operator_sessions::last_seen_at,
        ))
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(created_at, expires_at, last_seen_at)| TokenSession {
        created_at,
        expires_at: open.end(created_at, None, expires_at),
        last_seen_at,
    }))
}

/// Records a use of the session.
pub(crate) async fn mark_used(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let session = operator_sessions::table.find(digest.to_vec());
    diesel::update(session).set(operator_sessions::last_seen_at.eq(now)).execute(conn).await?;
    Ok(())
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
