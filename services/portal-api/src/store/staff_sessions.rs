//! Console sessions of persons, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::StoreError;

use super::schema::{staff, staff_sessions};
use super::stored;
use crate::domain::{OperatorActor, OperatorRole, SessionToken};

/// Open sessions of one person. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 50;

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    person: StaffId,
    token: &SessionToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    diesel::insert_into(staff_sessions::table)
        .values((
            staff_sessions::token_hash.eq(token.digest().to_vec()),
            staff_sessions::staff_id.eq(person.to_string()),
            staff_sessions::created_at.eq(now),
            staff_sessions::expires_at.eq(expires_at),
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

/// Who holds the session of a cookie, the present role, and when the session ends. `None` if it has ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<(OperatorActor, OperatorRole, DateTime<Utc>)>, StoreError> {
    let row: Option<(String, String, String, DateTime<Utc>)> = staff_sessions::table
        .inner_join(staff::table)
        .filter(staff_sessions::token_hash.eq(token.digest().to_vec()))
        .filter(staff_sessions::expires_at.gt(now))
        .select((staff::id, staff::email, staff::role, staff_sessions::expires_at))
        .first(conn)
        .await
        .optional()?;
    row.map(|(id, email, role, expires_at)| {
        let actor = OperatorActor::Person { id: stored("staff.id", &id)?, email };
        Ok((actor, stored("staff.role", &role)?, expires_at))
    })
    .transpose()
}

/// Ends a session. Does nothing if there is none.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, token: &SessionToken) -> Result<(), StoreError> {
    diesel::delete(staff_sessions::table.find(token.digest().to_vec())).execute(conn).await?;
    Ok(())
}

/// Ends all sessions of a person.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, person: StaffId) -> Result<(), StoreError> {
    let own = staff_sessions::table.filter(staff_sessions::staff_id.eq(person.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` ended sessions, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, staff_sessions::token_hash: Vec<u8>, staff_sessions::expires_at.le(now))
}
