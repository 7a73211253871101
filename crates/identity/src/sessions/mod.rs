//! Sessions of users and of the console, stored by the digest of the cookie.

mod lifetimes;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, SessionId, UserId};
use postgres::StoreError;

pub use lifetimes::{Lifetimes, OpenAt, OpenSession, SessionHolder};

use crate::accounts::{self, Account, Realm};
use crate::browser::CallerAddress;
use crate::schema::sessions;
use crate::stored;

/// Where a new session comes from.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    pub address: Option<&'a CallerAddress>,
    pub user_agent: Option<&'a str>,
    /// Whether the person had not logged in from this browser before. `None` after a sign-up and the like.
    pub new_browser: Option<bool>,
}

pub struct NewSession<'a> {
    pub id: SessionId,
    /// Of the cookie.
    pub digest: [u8; 32],
    pub holder: SessionHolder,
    /// The membership of a user.
    pub user: Option<(BusinessId, UserId)>,
    pub created_at: DateTime<Utc>,
    pub authenticated_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub single_sign_on: bool,
    pub origin: Origin<'a>,
}

/// The sessions of a holder, as a condition of a boxed statement.
macro_rules! held {
    ($statement:expr, $holder:expr) => {
        match $holder {
            SessionHolder::Account(account) => $statement
                .filter(sessions::account_id.eq(account.id()))
                .filter(sessions::realm.eq(account.realm().as_str())),
            SessionHolder::Configuration => $statement.filter(sessions::account_id.is_null()),
        }
    };
}

/// The sessions that are open, as a condition.
#[macro_export]
macro_rules! is_open {
    ($open:expr) => {
        sessions::revoked_at
            .is_null()
            .and(sessions::expires_at.gt($open.now))
            .and(sessions::last_seen_at.gt($open.used_after))
            .and(sessions::created_at.gt($open.created_after))
    };
}
pub use is_open;

pub async fn insert(
    conn: &mut AsyncPgConnection,
    new: &NewSession<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let account = match new.holder {
        SessionHolder::Account(account) => Some(account),
        SessionHolder::Configuration => None,
    };
    let (business, user) = new.user.map(|(business, user)| (business.to_string(), user.to_string())).unzip();
    diesel::insert_into(sessions::table)
        .values((
            sessions::id.eq(new.id.to_string()),
            sessions::token_hash.eq(new.digest.to_vec()),
            sessions::realm.eq(new.holder.realm().as_str()),
            sessions::account_id.eq(account.map(Account::id)),
            sessions::business_id.eq(business),
            sessions::user_id.eq(user),
            sessions::created_at.eq(new.created_at),
            sessions::authenticated_at.eq(new.authenticated_at),
            sessions::last_seen_at.eq(now),
            sessions::expires_at.eq(new.expires_at),
            sessions::single_sign_on.eq(new.single_sign_on),
            sessions::address.eq(new.origin.address.map(CallerAddress::as_str)),
            sessions::user_agent.eq(new.origin.user_agent),
            sessions::new_browser.eq(new.origin.new_browser),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends the holder's oldest sessions beyond `max`. Sessions that a provider has opened are counted separately, and for users only in
/// that business. A provider must not end other sessions.
pub async fn end_beyond(
    conn: &mut AsyncPgConnection,
    opened: &NewSession<'_>,
    max: i64,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mut counted = held!(sessions::table.into_boxed(), opened.holder);
    if let Some((_, user)) = opened.user.filter(|_| opened.single_sign_on) {
        counted = counted.filter(sessions::user_id.eq(user.to_string()));
    }
    let beyond: Vec<String> = counted
        .filter(sessions::single_sign_on.eq(opened.single_sign_on))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .order(sessions::id.desc())
        .offset(max)
        .select(sessions::id)
        .load(conn)
        .await?;
    let beyond = sessions::table.filter(sessions::id.eq_any(beyond));
    diesel::update(beyond).set(sessions::revoked_at.eq(now)).execute(conn).await?;
    Ok(())
}

type Row =
    ((String, DateTime<Utc>, DateTime<Utc>, DateTime<Utc>), (Option<String>, Option<String>), Option<String>);

/// The open sessions of a holder, newest first. Reads one more than `limit` to show that more follow. `None` if `after` is not one
/// of the holder.
pub async fn list(
    conn: &mut AsyncPgConnection,
    holder: SessionHolder,
    limit: usize,
    after: Option<SessionId>,
    open: OpenAt,
) -> Result<Option<Vec<OpenSession>>, StoreError> {
    let query = sessions::table
        .filter(is_open!(open))
        .order(sessions::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select((
            (sessions::id, sessions::created_at, sessions::last_seen_at, sessions::expires_at),
            (sessions::address, sessions::user_agent),
            sessions::business_id,
        ))
        .into_boxed();
    let mut query = held!(query, holder);
    if let Some(after) = after {
        // A session that has ended since is still a valid cursor.
        let known = held!(sessions::table.into_boxed(), holder).filter(sessions::id.eq(after.to_string()));
        if known.count().get_result::<i64>(conn).await? == 0 {
            return Ok(None);
        }
        query = query.filter(sessions::id.lt(after.to_string()));
    }
    let rows: Vec<Row> = query.load(conn).await?;
    rows.into_iter().map(|row| listed(row, open)).collect::<Result<_, _>>().map(Some)
}

fn listed(row: Row, open: OpenAt) -> Result<OpenSession, StoreError> {
    let ((id, created_at, last_seen_at, expires_at), (address, user_agent), business) = row;
    let business = business.map(|id| stored("sessions.business_id", &id)).transpose()?;
    Ok(OpenSession {
        id: stored("sessions.id", &id)?,
        created_at,
        last_seen_at,
        expires_at: open.end(created_at, Some(last_seen_at), expires_at),
        address,
        user_agent,
        business,
    })
}

/// Records a use, and extends the session of a user. An ended session stays ended.
pub async fn mark_used(
    conn: &mut AsyncPgConnection,
    session: SessionId,
    until: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let used = sessions::table.find(session.to_string()).filter(sessions::revoked_at.is_null());
    let change = (sessions::last_seen_at.eq(now), until.map(|until| sessions::expires_at.eq(until)));
    diesel::update(used).set(change).execute(conn).await?;
    Ok(())
}

/// Records when the person of an open session last authenticated.
pub async fn set_authenticated(
    conn: &mut AsyncPgConnection,
    session: SessionId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let session = sessions::table.find(session.to_string());
    diesel::update(session).set(sessions::authenticated_at.eq(at)).execute(conn).await?;
    Ok(())
}

/// Records that the person has authenticated again, and gives the session a new token. False if another call has replaced the token
/// since, or the session has ended.
pub async fn renew(
    conn: &mut AsyncPgConnection,
    (old, new): ([u8; 32], [u8; 32]),
    authenticated_at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open =
        sessions::table.filter(sessions::token_hash.eq(old.to_vec())).filter(sessions::revoked_at.is_null());
    let change = (sessions::token_hash.eq(new.to_vec()), sessions::authenticated_at.eq(authenticated_at));
    Ok(diesel::update(open).set(change).execute(conn).await? == 1)
}

/// Ends one session of the holder. False if it belongs to somebody else or has already ended.
pub async fn end(
    conn: &mut AsyncPgConnection,
    holder: SessionHolder,
    session: SessionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let ended = diesel::update(sessions::table).set(sessions::revoked_at.eq(now)).into_boxed();
    let ended = held!(ended, holder)
        .filter(sessions::id.eq(session.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(ended.execute(conn).await? == 1)
}

/// Ends the session of the realm with one of these digests. Does nothing if there is none.
pub async fn end_by_digest(
    conn: &mut AsyncPgConnection,
    realm: Realm,
    digests: impl IntoIterator<Item = [u8; 32]>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let open = sessions::table
        .filter(sessions::token_hash.eq_any(digests.into_iter().map(Vec::from)))
        .filter(sessions::realm.eq(realm.as_str()))
        .filter(sessions::revoked_at.is_null());
    diesel::update(open).set(sessions::revoked_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// Ends all sessions of the holder except `kept`, and returns how many.
pub async fn end_all(
    conn: &mut AsyncPgConnection,
    holder: SessionHolder,
    kept: Option<SessionId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    if let SessionHolder::Account(account) = holder {
        accounts::lock(conn, account).await?;
    }
    let kept = kept.map(|kept| kept.to_string()).unwrap_or_default();
    let ended = diesel::update(sessions::table).set(sessions::revoked_at.eq(now)).into_boxed();
    let ended = held!(ended, holder)
        .filter(sessions::id.ne(kept))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(ended.execute(conn).await?)
}

/// Ends the sessions of a person that the identity provider has opened, and returns how many.
pub async fn end_single_sign_on(
    conn: &mut AsyncPgConnection,
    account: Account,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    let opened = sessions::table
        .filter(sessions::account_id.eq(account.id()))
        .filter(sessions::realm.eq(account.realm().as_str()))
        .filter(sessions::single_sign_on)
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(diesel::update(opened).set(sessions::revoked_at.eq(now)).execute(conn).await?)
}

/// How many sessions of the account since then began in a new browser, including ended ones.
pub async fn count_of_new_browsers(
    conn: &mut AsyncPgConnection,
    account: Account,
    since: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let found = sessions::table
        .filter(sessions::account_id.eq(account.id()))
        .filter(sessions::realm.eq(account.realm().as_str()))
        .filter(sessions::new_browser)
        .filter(sessions::created_at.gt(since));
    Ok(found.count().get_result(conn).await?)
}

/// An open session of the configured token.
pub struct TokenSession {
    pub session: SessionId,
    pub created_at: DateTime<Utc>,
    /// Even when in use.
    pub expires_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
}

/// When a session was opened, ends, and was last used.
pub type Times = (DateTime<Utc>, DateTime<Utc>, DateTime<Utc>);
pub const TIMES: (sessions::created_at, sessions::expires_at, sessions::last_seen_at) =
    (sessions::created_at, sessions::expires_at, sessions::last_seen_at);

/// The session of a configured token with one of these digests. `None` if it has ended.
pub async fn of_configuration(
    conn: &mut AsyncPgConnection,
    digests: impl IntoIterator<Item = [u8; 32]>,
    open: OpenAt,
) -> Result<Option<TokenSession>, StoreError> {
    let row: Option<(String, Times)> = sessions::table
        .filter(sessions::token_hash.eq_any(digests.into_iter().map(Vec::from)))
        .filter(sessions::account_id.is_null())
        .filter(is_open!(open))
        .select((sessions::id, TIMES))
        .first(conn)
        .await
        .optional()?;
    row.map(|(session, (created_at, expires_at, last_seen_at))| {
        Ok(TokenSession {
            session: stored("sessions.id", &session)?,
            created_at,
            expires_at: open.end(created_at, None, expires_at),
            last_seen_at,
        })
    })
    .transpose()
}

/// Deletes at most `max` sessions that ended before `before`, and returns how many.
pub async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, sessions::id: String, sessions::expires_at.lt(before))
}
