//! Log-ins, known by the digest of their cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, SessionId, UserId};
use postgres::StoreError;

use super::schema::{businesses, sessions, users};
use super::stored;
use super::users::lock as lock_user;
use crate::domain::{Session, SessionToken, oldest_session_start};

/// A session, as its user sees it in the list.
#[derive(Queryable)]
struct ListedRow {
    id: String,
    created_at: DateTime<Utc>,
    last_seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    user_agent: Option<String>,
}

/// One of a user's open sessions.
pub(crate) struct Listed {
    pub(crate) id: SessionId,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_seen_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) user_agent: Option<String>,
}

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
    user_agent: Option<&str>,
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
            sessions::user_agent.eq(user_agent),
        ))
        .execute(conn)
        .await?;
    seen(conn, session, session.created_at).await
}

async fn seen(conn: &mut AsyncPgConnection, session: &Session, at: DateTime<Utc>) -> Result<(), StoreError> {
    let user = users::table
        .find(session.user.to_string())
        .filter(users::business_id.eq(session.business.to_string()));
    diesel::update(user).set(users::last_seen_at.eq(at)).execute(conn).await?;
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

/// Which of these sessions, found before, have not ended meanwhile. Serves all businesses.
pub(crate) async fn open_of(
    conn: &mut AsyncPgConnection,
    known: &[(BusinessId, SessionId)],
    now: DateTime<Utc>,
) -> Result<Vec<SessionId>, StoreError> {
    let open: Vec<String> = sessions::table
        .filter(sessions::id.eq_any(known.iter().map(|(_, session)| session.to_string())))
        .filter(sessions::business_id.eq_any(known.iter().map(|(business, _)| business.to_string())))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .filter(sessions::created_at.gt(oldest_session_start(now)))
        .select(sessions::id)
        .load(conn)
        .await?;
    open.iter().map(|id| stored("sessions.id", id)).collect()
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
    seen(conn, session, now).await
}

/// Ends the session that a cookie opens; gives it back, if it was one that had not ended.
pub(crate) async fn revoke(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<Session>, StoreError> {
    let Some(session) = find(conn, token, now).await? else { return Ok(None) };
    let ended = revoke_one(conn, (session.business, session.user), session.id, now).await?;
    Ok(ended.then_some(session))
}

/// The user's sessions that have not ended, newest first; one more than `limit` tells that there are more. `None` when
/// `after` is none of them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    (business, user): (BusinessId, UserId),
    limit: usize,
    after: Option<SessionId>,
    now: DateTime<Utc>,
) -> Result<Option<Vec<Listed>>, StoreError> {
    let own = || {
        sessions::table
            .filter(sessions::user_id.eq(user.to_string()))
            .filter(sessions::business_id.eq(business.to_string()))
    };
    let mut query = own()
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .filter(sessions::created_at.gt(oldest_session_start(now)))
        .order(sessions::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select((
            sessions::id,
            sessions::created_at,
            sessions::last_seen_at,
            sessions::expires_at,
            sessions::user_agent,
        ))
        .into_boxed();
    if let Some(after) = after {
        // One that ended meanwhile still tells where to go on.
        let known = own().filter(sessions::id.eq(after.to_string()));
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(sessions::id.lt(after.to_string()));
    }
    let rows: Vec<ListedRow> = query.load(conn).await?;
    rows.into_iter().map(Listed::try_from).collect::<Result<_, _>>().map(Some)
}

/// Ends one of the user's sessions; false when it is none of theirs, or has ended.
pub(crate) async fn revoke_one(
    conn: &mut AsyncPgConnection,
    (business, user): (BusinessId, UserId),
    session: SessionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = sessions::table
        .find(session.to_string())
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await? == 1)
}

/// Ends all of the user's sessions but the one to be kept; tells how many.
pub(crate) async fn revoke_all(
    conn: &mut AsyncPgConnection,
    (business, user): (BusinessId, UserId),
    kept: Option<SessionId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    lock_user(conn, business, user).await?;
    let kept = kept.map(|kept| kept.to_string()).unwrap_or_default();
    let open = sessions::table
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::id.ne(kept))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await?)
}

/// Ends the user's oldest sessions beyond `max`, so that nobody gathers them without a bound.
pub(crate) async fn revoke_beyond(
    conn: &mut AsyncPgConnection,
    session: &Session,
    max: i64,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let beyond: Vec<String> = sessions::table
        .filter(sessions::user_id.eq(session.user.to_string()))
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .order(sessions::id.desc())
        .offset(max)
        .select(sessions::id)
        .load(conn)
        .await?;
    if !beyond.is_empty() {
        diesel::update(sessions::table.filter(sessions::id.eq_any(beyond)))
            .set(sessions::revoked_at.eq(now))
            .execute(conn)
            .await?;
    }
    Ok(())
}

/// Removes all that is known of the user's sessions, before the user is removed.
pub(crate) async fn forget_user(
    conn: &mut AsyncPgConnection,
    (business, user): (BusinessId, UserId),
) -> Result<(), StoreError> {
    lock_user(conn, business, user).await?;
    let own = sessions::table
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::business_id.eq(business.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Removes at most `max` sessions that ended before `before`; tells how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, sessions::id: String, sessions::expires_at.lt(before))
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("sessions.id", &row.id)?,
            user: stored("sessions.user_id", &row.user)?,
            email: row.email,
            role: stored("users.role", &row.role)?,
            business: stored("sessions.business_id", &row.business)?,
            business_name: row.business_name,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}

impl TryFrom<ListedRow> for Listed {
    type Error = StoreError;

    fn try_from(row: ListedRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("sessions.id", &row.id)?,
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            expires_at: row.expires_at,
            user_agent: row.user_agent,
        })
    }
}
