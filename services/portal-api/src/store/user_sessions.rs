//! Sessions of users: with their business and role, and by who has authenticated them.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, SessionId, UserId};
use identity::sessions::{NewSession, OpenAt};
use identity::{SessionToken, is_open, stored};
use postgres::StoreError;

use crate::domain::{Role, Session, UserKey};
use crate::single_sign_on::domain::may_use_password;
use crate::store::schema::{accounts, businesses, memberships, sessions};
use crate::store::users::lock as lock_user;
use diesel::prelude::*;

#[derive(Queryable)]
struct SessionRow {
    id: String,
    user: String,
    email: String,
    email_verified_at: Option<DateTime<Utc>>,
    name: Option<String>,
    role: String,
    account: String,
    business: String,
    business_name: String,
    created_at: DateTime<Utc>,
    last_seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    authenticated_at: DateTime<Utc>,
    single_sign_on: bool,
    sso_required: bool,
}

const SSO_REQUIRED: &str = "EXISTS (SELECT FROM business_sso AS sso
    WHERE sso.business_id = sessions.business_id AND sso.required)";

/// Inserts a session, and records when its user was last seen.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    new: &NewSession<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    identity::sessions::insert(conn, new, now).await?;
    match new.user {
        Some(user) => super::memberships::set_seen(conn, user, now).await,
        None => Ok(()),
    }
}

/// The session of a cookie, unless it has ended. The caller decides whether the user must enrol a second factor.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<Session>, StoreError> {
    let row: Option<SessionRow> = sessions::table
        .inner_join(memberships::table.inner_join(accounts::table))
        .inner_join(businesses::table)
        .filter(sessions::token_hash.eq(token.digest().to_vec()))
        .filter(is_open!(open))
        .select((
            sessions::id,
            memberships::id,
            accounts::email,
            accounts::email_verified_at,
            accounts::name,
            memberships::role,
            accounts::id,
            businesses::id,
            businesses::name,
            sessions::created_at,
            sessions::last_seen_at,
            sessions::expires_at,
            sessions::authenticated_at,
            sessions::single_sign_on,
            sql::<Bool>(SSO_REQUIRED),
        ))
        .first(conn)
        .await
        .optional()?;
    row.map(|row| read(row, open)).transpose()
}

/// The sessions among these that have not ended. Covers all businesses.
pub(crate) async fn still_open(
    conn: &mut AsyncPgConnection,
    known: &[(BusinessId, SessionId)],
    open: OpenAt,
) -> Result<Vec<SessionId>, StoreError> {
    let open: Vec<String> = sessions::table
        .filter(sessions::id.eq_any(known.iter().map(|(_, session)| session.to_string())))
        .filter(sessions::business_id.eq_any(known.iter().map(|(business, _)| business.to_string())))
        .filter(is_open!(open))
        .select(sessions::id)
        .load(conn)
        .await?;
    open.iter().map(|id| stored("sessions.id", id)).collect()
}

/// Ends an open session, and returns the address and the browser at its log-in. `None` if it has ended.
pub(crate) async fn end(
    conn: &mut AsyncPgConnection,
    session: &Session,
    now: DateTime<Utc>,
) -> Result<Option<(Option<String>, Option<String>)>, StoreError> {
    let open = sessions::table
        .find(session.id.to_string())
        .filter(sessions::user_id.eq(session.user.to_string()))
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let ended = diesel::update(open)
        .set(sessions::revoked_at.eq(now))
        .returning((sessions::address, sessions::user_agent));
    Ok(ended.get_result(conn).await.optional()?)
}

/// Ends the session of a cookie, and returns it. `None` if it had already ended.
pub(crate) async fn end_by_token(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<Session>, StoreError> {
    let Some(session) = find(conn, token, open).await? else { return Ok(None) };
    let ended = end(conn, &session, open.now).await?;
    Ok(ended.map(|_| session))
}

/// Ends the sessions of a user in one business, and returns how many. Those of the person's other memberships stay.
pub(crate) async fn end_in_business(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    lock_user(conn, (business, user)).await?;
    let open = sessions::table
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await?)
}

/// Ends the sessions that the provider of the business has opened: of one user, or of all. Returns how many.
pub(crate) async fn end_single_sign_on(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: Option<UserId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    // By the index of the sessions' users.
    let all = memberships::table
        .filter(memberships::business_id.eq(business.to_string()))
        .select(memberships::id.nullable());
    let open = sessions::table
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::user_id.eq_any(all))
        .filter(sessions::single_sign_on)
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let end = diesel::update(open).set(sessions::revoked_at.eq(now)).into_boxed();
    let end = match user {
        Some(user) => end.filter(sessions::user_id.eq(user.to_string())),
        None => end,
    };
    Ok(end.execute(conn).await?)
}

/// Ends the sessions that people other than owners have opened with a password, and returns their ids.
pub(crate) async fn end_passwords_but_of_owners(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<Vec<String>, StoreError> {
    let others = memberships::table
        .filter(memberships::business_id.eq(business.to_string()))
        .filter(memberships::role.ne(Role::Owner.as_str()))
        .select(memberships::id.nullable());
    let open = sessions::table
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::user_id.eq_any(others))
        .filter(diesel::dsl::not(sessions::single_sign_on))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let end = diesel::update(open).set(sessions::revoked_at.eq(now)).returning(sessions::id);
    Ok(end.get_results(conn).await?)
}

/// Deletes all sessions of a user who is about to be removed.
pub(crate) async fn remove_all(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
) -> Result<(), StoreError> {
    lock_user(conn, (business, user)).await?;
    let own = sessions::table
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::business_id.eq(business.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

fn read(row: SessionRow, open: OpenAt) -> Result<Session, StoreError> {
    let role = stored("memberships.role", &row.role)?;
    Ok(Session {
        id: stored("sessions.id", &row.id)?,
        user: stored("memberships.id", &row.user)?,
        account: stored("accounts.id", &row.account)?,
        email: row.email,
        email_verified: row.email_verified_at.is_some(),
        name: row.name,
        role,
        business: stored("businesses.id", &row.business)?,
        business_name: row.business_name,
        created_at: row.created_at,
        expires_at: open.end(row.created_at, Some(row.last_seen_at), row.expires_at),
        authenticated_at: row.authenticated_at,
        must_enrol: false,
        single_sign_on: row.single_sign_on,
        password_refused: !row.single_sign_on && !may_use_password(role, row.sso_required),
    })
}
