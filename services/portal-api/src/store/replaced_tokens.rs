//! Tokens of sessions that a confirmation has just replaced, of users and of the staff.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::schema::replaced_session_tokens;
use crate::domain::SessionToken;

/// Longer than a page waits for a read. Calls with the former token prove nothing recent meanwhile.
const FOUND_FOR: TimeDelta = TimeDelta::seconds(15);

/// Records that a token has been replaced; `former` and `current` are what the session's row contains. Earlier tokens of the session
/// then lead to the new one too.
pub(super) async fn insert(
    conn: &mut AsyncPgConnection,
    old: &SessionToken,
    (former, current): (Vec<u8>, Vec<u8>),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let earlier = replaced_session_tokens::current_hash.eq(former);
    diesel::update(replaced_session_tokens::table.filter(earlier))
        .set(replaced_session_tokens::current_hash.eq(&current))
        .execute(conn)
        .await?;
    diesel::insert_into(replaced_session_tokens::table)
        .values((
            replaced_session_tokens::token_hash.eq(old.digest().to_vec()),
            replaced_session_tokens::current_hash.eq(&current),
            replaced_session_tokens::expires_at.eq(now + FOUND_FOR),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// What the session's row contains, if the token was replaced a moment ago.
pub(super) async fn current(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let replaced = replaced_session_tokens::table
        .find(token.digest().to_vec())
        .filter(replaced_session_tokens::expires_at.gt(now))
        .select(replaced_session_tokens::current_hash);
    Ok(replaced.first(conn).await.optional()?)
}

/// Deletes at most `max` of those that find no session any more, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, replaced_session_tokens::token_hash: Vec<u8>, replaced_session_tokens::expires_at.le(now))
}
