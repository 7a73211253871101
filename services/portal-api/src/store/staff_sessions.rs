//! Console sessions of persons, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::StoreError;

use super::schema::{accounts, staff_roles, staff_sessions};
use super::sessions::Origin;
use super::stored;
use crate::domain::{CallerAddress, OpenAt, OperatorRole, SessionToken};

/// Open sessions of one person. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 50;

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    person: StaffId,
    token: &SessionToken,
    origin: &Origin<'_>,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    diesel::insert_into(staff_sessions::table)
        .values((
            staff_sessions::token_hash.eq(token.digest().to_vec()),
            staff_sessions::staff_id.eq(person.to_string()),
            staff_sessions::created_at.eq(now),
            staff_sessions::authenticated_at.eq(now),
            staff_sessions::expires_at.eq(expires_at),
            staff_sessions::last_seen_at.eq(now),
            staff_sessions::address.eq(origin.address.map(CallerAddress::as_str)),
            staff_sessions::user_agent.eq(origin.user_agent),
        ))
        .execute(conn)
        .await?;
    let beyond: Vec<Vec<u8>> = staff_sessions::table
        .filter(staff_sessions::staff_id.eq(person.to_string()))
        .order((staff_sessions::created_at.desc(), staff_sessions::token_hash))
        .offset(OPEN_MAX)
        .select(staff_sessions::token_hash)
        .load(conn)
        .await?;
    diesel::delete(staff_sessions::table.filter(staff_sessions::token_hash.eq_any(beyond)))
        .execute(conn)
        .await?;
    Ok(())
}

/// An open session of a person, with the present role.
pub(crate) struct StaffSession {
    /// The digest of its token.
    pub(crate) digest: [u8; 32],
    pub(crate) id: StaffId,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: OperatorRole,
    /// Even when in use.
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) last_seen_at: DateTime<Utc>,
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the identity provider has authenticated the person.
    pub(crate) single_sign_on: bool,
}

type Time = DateTime<Utc>;
type StaffSessionRow = ((Vec<u8>, String, Option<String>, String, String), Time, Time, Time, Time, bool);

/// The session of a cookie. `None` if it has ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<StaffSession>, StoreError> {
    let row: Option<StaffSessionRow> = staff_sessions::table
        .inner_join(staff_roles::table.inner_join(accounts::table))
        .filter(staff_sessions::token_hash.eq(token.digest().to_vec()))
        .filter(staff_sessions::expires_at.gt(open.now))
        .filter(staff_sessions::created_at.gt(open.created_after))
        .filter(staff_sessions::last_seen_at.gt(open.used_after))
        .select((
            (staff_sessions::token_hash, accounts::id, accounts::name, accounts::email, staff_roles::role),
            staff_sessions::expires_at,
            staff_sessions::created_at,
            staff_sessions::authenticated_at,
            staff_sessions::last_seen_at,
            staff_sessions::single_sign_on,
        ))
        .first(conn)
        .await
        .optional()?;
    let damaged = |_| StoreError::Corrupt("a digest of a console session has a wrong length".to_owned());
    row.map(|(person, expires_at, created_at, authenticated_at, last_seen_at, single_sign_on)| {
        let (digest, id, name, email, role) = person;
        Ok(StaffSession {
            digest: digest.try_into().map_err(damaged)?,
            id: stored("accounts.id", &id)?,
            name: name.unwrap_or_default(),
            email,
            role: stored("staff_roles.role", &role)?,
            expires_at: open.end(created_at, None, expires_at),
            last_seen_at,
            authenticated_at,
            single_sign_on,
        })
    })
    .transpose()
}

/// Records a use of the session.
pub(crate) async fn mark_used(
    conn: &mut AsyncPgConnection,
    digest: [u8; 32],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let session = staff_sessions::table.find(digest.to_vec());
    diesel::update(session).set(staff_sessions::last_seen_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// Records when the person of an open session last authenticated.
pub(crate) async fn set_authenticated(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let session = staff_sessions::table.find(token.digest().to_vec());
    diesel::update(session).set(staff_sessions::authenticated_at.eq(at)).execute(conn).await?;
    Ok(())
}

/// Records that the person has authenticated again, and gives the session a new token. False if another call has replaced the
/// token since, or the session has ended.
pub(crate) async fn renew(
    conn: &mut AsyncPgConnection,
    (old, new): (&SessionToken, &SessionToken),
    authenticated_at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let session = staff_sessions::table.find(old.digest().to_vec());
    let change = (
        staff_sessions::token_hash.eq(new.digest().to_vec()),
        staff_sessions::authenticated_at.eq(authenticated_at),
    );
    Ok(diesel::update(session).set(change).execute(conn).await? == 1)
}

/// Records that the identity provider has authenticated the person of a new session, and when.
pub(crate) async fn set_single_sign_on(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let session = staff_sessions::table.find(token.digest().to_vec());
    diesel::update(session)
        .set((staff_sessions::authenticated_at.eq(at), staff_sessions::single_sign_on.eq(true)))
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends a session. Does nothing if there is none.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, token: &SessionToken) -> Result<(), StoreError> {
    diesel::delete(staff_sessions::table.find(token.digest().to_vec())).execute(conn).await?;
    Ok(())
}

/// Ends the sessions of a person that the identity provider has opened, and returns how many.
pub(crate) async fn remove_single_sign_on(
    conn: &mut AsyncPgConnection,
    person: StaffId,
) -> Result<usize, StoreError> {
    let own = staff_sessions::table
        .filter(staff_sessions::staff_id.eq(person.to_string()))
        .filter(staff_sessions::single_sign_on);
    Ok(diesel::delete(own).execute(conn).await?)
}

/// Ends all sessions of a person, and returns how many.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, person: StaffId) -> Result<usize, StoreError> {
    let own = staff_sessions::table.filter(staff_sessions::staff_id.eq(person.to_string()));
    Ok(diesel::delete(own).execute(conn).await?)
}

/// Deletes at most `max` ended sessions, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, staff_sessions::token_hash: Vec<u8>, staff_sessions::expires_at.le(now))
}
