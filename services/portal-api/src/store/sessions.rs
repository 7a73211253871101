//! Log-ins, known by the digest of their cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::SessionId;
use postgres::StoreError;

use super::schema::{businesses, sessions, users};
use super::stored;
use crate::domain::{Session, SessionToken, oldest_session_start};

#[derive(Queryable)]
struct SessionRow {
    id: String,
    user: String,
    email: String,
    role: String,
    business: String,
    business_name: String,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    session: &Session,
    token: &SessionToken,
) -> Result<(), StoreError> {
    diesel::insert_into(sessions::table)
        .values((
            sessions::id.eq(session.id.to_string()),
            sessions::token_hash.eq(token.digest().to_vec()),
            sessions::business_id.eq(session.business.to_string()),
            sessions::user_id.eq(session.user.to_string()),
            sessions::created_at.eq(session.created_at),
            sessions::last_seen_at.eq(session.created_at),
            sessions::expires_at.eq(session.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The session that a cookie opens, if it has not ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<Session>, StoreError> {
    let row: Option<SessionRow> = sessions::table
        .inner_join(users::table)
        .inner_join(businesses::table)
        .filter(sessions::token_hash.eq(token.digest().to_vec()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .filter(sessions::created_at.gt(oldest_session_start(now)))
        .select((
            sessions::id,
            sessions::user_id,
            users::email,
            users::role,
            sessions::business_id,
            businesses::name,
            sessions::created_at,
            sessions::expires_at,
        ))
        .first(conn)
        .await
        .optional()?;
    row.map(Session::try_from).transpose()
}

/// Whether a session that was found before has not ended meanwhile.
pub(crate) async fn is_open(
    conn: &mut AsyncPgConnection,
    session: &Session,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = sessions::table
        .find(session.id.to_string())
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .filter(sessions::created_at.gt(oldest_session_start(now)));
    Ok(diesel::select(diesel::dsl::exists(open)).get_result(conn).await?)
}

/// Moves the end of a session that is being used. A session that ended meanwhile stays ended.
pub(crate) async fn extend(
    conn: &mut AsyncPgConnection,
    session: &Session,
    expires_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let open = sessions::table
        .find(session.id.to_string())
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::revoked_at.is_null());
    diesel::update(open)
        .set((sessions::expires_at.eq(expires_at), sessions::last_seen_at.eq(now)))
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends the session that a cookie opens; tells which it was, if it was one that had not ended.
pub(crate) async fn revoke(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<SessionId>, StoreError> {
    let open = sessions::table
        .filter(sessions::token_hash.eq(token.digest().to_vec()))
        .filter(sessions::revoked_at.is_null());
    let id: Option<String> = diesel::update(open)
        .set(sessions::revoked_at.eq(now))
        .returning(sessions::id)
        .get_result(conn)
        .await
        .optional()?;
    id.map(|id| stored("sessions.id", &id)).transpose()
}

/// Removes at most `max` sessions that ended before `before`; tells how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    let ended: Vec<String> = sessions::table
        .filter(sessions::expires_at.lt(before))
        .select(sessions::id)
        .limit(max)
        .load(conn)
        .await?;
    Ok(diesel::delete(sessions::table.filter(sessions::id.eq_any(ended))).execute(conn).await?)
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("sessions.id", &row.id)?,
            user: stored("sessions.user_id", &row.user)?,
            email: row.email,
            role: row.role,
            business: stored("sessions.business_id", &row.business)?,
            business_name: row.business_name,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}
