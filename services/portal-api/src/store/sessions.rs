//! Sessions of users, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, BusinessId, SessionId};
use postgres::StoreError;

use super::accounts::lock as lock_account;
use super::memberships::set_seen;
use super::schema::{accounts, businesses, memberships, sessions};
use super::stored;
use super::users::lock as lock_user;
use crate::domain::{CallerAddress, Lifetimes, OpenAt, Session, SessionToken, UserKey, may_use_password};

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

/// Where a new session comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) address: Option<&'a CallerAddress>,
    pub(crate) user_agent: Option<&'a str>,
    /// Whether the user had not logged in from this browser before. `None` after a sign-up and the like.
    pub(crate) new_browser: Option<bool>,
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    session: &Session,
    token: &SessionToken,
    origin: Origin<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(sessions::table)
        .values((
            sessions::id.eq(session.id.to_string()),
            sessions::token_hash.eq(token.digest().to_vec()),
            sessions::business_id.eq(session.business.to_string()),
            sessions::user_id.eq(session.user.to_string()),
            sessions::account_id.eq(session.account.to_string()),
            sessions::created_at.eq(session.created_at),
            sessions::last_seen_at.eq(now),
            sessions::expires_at.eq(session.expires_at),
            sessions::user_agent.eq(origin.user_agent),
            sessions::address.eq(origin.address.map(CallerAddress::as_str)),
            sessions::new_browser.eq(origin.new_browser),
            sessions::authenticated_at.eq(session.authenticated_at),
            sessions::single_sign_on.eq(session.single_sign_on),
        ))
        .execute(conn)
        .await?;
    set_seen(conn, (session.business, session.user), now).await
}

/// Ends a session that another one replaces, and returns the address and the browser at its log-in. `None` if it has ended.
pub(crate) async fn end_replaced(
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

/// The session of a cookie, unless it has ended. The caller decides whether the user must enrol a second factor.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<Session>, StoreError> {
    let row: Option<SessionRow> = sessions::table
        .inner_join(memberships::table)
        .inner_join(accounts::table)
        .inner_join(businesses::table)
        .filter(sessions::token_hash.eq(token.digest().to_vec()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(open.now))
        .filter(sessions::last_seen_at.gt(open.used_after))
        .filter(sessions::created_at.gt(open.created_after))
        .select((
            sessions::id,
            sessions::user_id,
            accounts::email,
            accounts::email_verified_at,
            accounts::name,
            memberships::role,
            sessions::account_id,
            sessions::business_id,
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
    row.map(|row| read(row, open.lifetimes)).transpose()
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
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(open.now))
        .filter(sessions::last_seen_at.gt(open.used_after))
        .filter(sessions::created_at.gt(open.created_after))
        .select(sessions::id)
        .load(conn)
        .await?;
    open.iter().map(|id| stored("sessions.id", id)).collect()
}

/// Extends a session in use. A revoked session stays revoked.
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
    set_seen(conn, (session.business, session.user), now).await
}

/// Records when the user of an open session last authenticated.
pub(crate) async fn set_authenticated(
    conn: &mut AsyncPgConnection,
    session: &Session,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let open = sessions::table
        .find(session.id.to_string())
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::revoked_at.is_null());
    diesel::update(open).set(sessions::authenticated_at.eq(at)).execute(conn).await?;
    Ok(())
}

/// Records that the user has authenticated again, and gives the session a new token. False if another call has replaced the token
/// since, or the session has ended.
pub(crate) async fn renew(
    conn: &mut AsyncPgConnection,
    session: &Session,
    (old, new): (&SessionToken, &SessionToken),
    authenticated_at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = sessions::table
        .find(session.id.to_string())
        .filter(sessions::business_id.eq(session.business.to_string()))
        .filter(sessions::token_hash.eq(old.digest().to_vec()))
        .filter(sessions::revoked_at.is_null());
    let change =
        (sessions::token_hash.eq(new.digest().to_vec()), sessions::authenticated_at.eq(authenticated_at));
    Ok(diesel::update(open).set(change).execute(conn).await? == 1)
}

/// Ends the session of a cookie, and returns it. `None` if it had already ended.
pub(crate) async fn revoke(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<Session>, StoreError> {
    let Some(session) = find(conn, token, open).await? else { return Ok(None) };
    let ended = end_replaced(conn, &session, open.now).await?;
    Ok(ended.map(|_| session))
}

/// Ends one session of the account. False if it belongs to somebody else or has already ended.
pub(crate) async fn revoke_one(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    session: SessionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = sessions::table
        .find(session.to_string())
        .filter(sessions::account_id.eq(account.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await? == 1)
}

/// Ends all sessions of the account except `kept`, and returns how many.
pub(crate) async fn revoke_all(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    kept: Option<SessionId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    lock_account(conn, account).await?;
    let kept = kept.map(|kept| kept.to_string()).unwrap_or_default();
    let open = sessions::table
        .filter(sessions::account_id.eq(account.to_string()))
        .filter(sessions::id.ne(kept))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await?)
}

/// Ends the sessions of a user in one business, and returns how many. Those of the person's other memberships stay.
pub(crate) async fn revoke_in_business(
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

/// How many sessions of the account since then began in a new browser, including ended ones.
pub(crate) async fn count_of_new_browsers(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    since: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let found = sessions::table
        .filter(sessions::account_id.eq(account.to_string()))
        .filter(sessions::new_browser)
        .filter(sessions::created_at.gt(since));
    Ok(found.count().get_result(conn).await?)
}

/// Ends the account's oldest sessions beyond `max`. Those that a provider opens count for themselves, in their business: it must not
/// end others.
pub(crate) async fn revoke_beyond(
    conn: &mut AsyncPgConnection,
    session: &Session,
    max: i64,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let counted = match session.single_sign_on {
        true => sessions::table.filter(sessions::user_id.eq(session.user.to_string())).into_boxed(),
        false => sessions::table.filter(sessions::account_id.eq(session.account.to_string())).into_boxed(),
    };
    let beyond: Vec<String> = counted
        .filter(sessions::single_sign_on.eq(session.single_sign_on))
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

/// Deletes at most `max` sessions that ended before `before`, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, sessions::id: String, sessions::expires_at.lt(before))
}

fn read(row: SessionRow, lifetimes: Lifetimes) -> Result<Session, StoreError> {
    let own = (stored("sessions.business_id", &row.business)?, stored("sessions.user_id", &row.user)?);
    let role = stored("memberships.role", &row.role)?;
    Ok(Session {
        id: stored("sessions.id", &row.id)?,
        user: own.1,
        account: stored("sessions.account_id", &row.account)?,
        email: row.email,
        email_verified: row.email_verified_at.is_some(),
        name: row.name,
        role,
        business: own.0,
        business_name: row.business_name,
        created_at: row.created_at,
        expires_at: row.expires_at.min(lifetimes.end(row.created_at, row.last_seen_at)),
        authenticated_at: row.authenticated_at,
        must_enrol: false,
        single_sign_on: row.single_sign_on,
        password_refused: !row.single_sign_on && !may_use_password(role, row.sso_required),
    })
}
