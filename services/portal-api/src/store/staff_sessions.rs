//! Console sessions of persons and of named tokens, stored by the digest of the cookie.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::schema::{operator_tokens, staff, staff_sessions};
use super::stored;
use crate::domain::{OperatorActor, OperatorRole, SessionHolder, SessionToken};

/// Open sessions of one person or token. Opening more ends the oldest ones.
const OPEN_MAX: i64 = 50;

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    holder: SessionHolder,
    token: &SessionToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    let (staff_id, token_id) = match holder {
        SessionHolder::Staff(id) => (Some(id.to_string()), None),
        SessionHolder::Token(id) => (None, Some(id.to_string())),
    };
    diesel::insert_into(staff_sessions::table)
        .values((
            staff_sessions::token_hash.eq(token.digest().to_vec()),
            staff_sessions::staff_id.eq(&staff_id),
            staff_sessions::token_id.eq(&token_id),
            staff_sessions::created_at.eq(now),
            staff_sessions::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    let beyond: Vec<Vec<u8>> = staff_sessions::table
        .filter(staff_sessions::staff_id.is_not_distinct_from(&staff_id))
        .filter(staff_sessions::token_id.is_not_distinct_from(&token_id))
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

type PersonRow = (Option<String>, Option<String>, Option<String>);
type TokenRow = (Option<String>, Option<String>, Option<String>);

/// Who holds the session of a cookie, the present role, and when the session ends. `None` if it has ended.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    now: DateTime<Utc>,
) -> Result<Option<(OperatorActor, OperatorRole, DateTime<Utc>)>, StoreError> {
    let row: Option<(PersonRow, TokenRow, DateTime<Utc>)> = staff_sessions::table
        .left_join(staff::table)
        .left_join(operator_tokens::table)
        .filter(staff_sessions::token_hash.eq(token.digest().to_vec()))
        .filter(staff_sessions::expires_at.gt(now))
        .select((
            (staff::id.nullable(), staff::email.nullable(), staff::role.nullable()),
            (
                operator_tokens::id.nullable(),
                operator_tokens::name.nullable(),
                operator_tokens::role.nullable(),
            ),
            staff_sessions::expires_at,
        ))
        .first(conn)
        .await
        .optional()?;
    let Some((person, token, expires_at)) = row else { return Ok(None) };
    let (actor, role) = match (person, token) {
        ((Some(id), Some(email), Some(role)), _) => {
            (OperatorActor::Person { id: stored("staff.id", &id)?, email }, role)
        }
        (_, (Some(id), Some(name), Some(role))) => {
            (OperatorActor::Token { id: stored("operator_tokens.id", &id)?, name }, role)
        }
        _ => return Err(StoreError::Corrupt("staff_sessions: a session without a holder".into())),
    };
    Ok(Some((actor, stored("staff_sessions role", &role)?, expires_at)))
}

/// Ends a session. Does nothing if there is none.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, token: &SessionToken) -> Result<(), StoreError> {
    diesel::delete(staff_sessions::table.find(token.digest().to_vec())).execute(conn).await?;
    Ok(())
}

/// Ends all sessions of a person or token.
pub(crate) async fn remove_all(
    conn: &mut AsyncPgConnection,
    holder: SessionHolder,
) -> Result<(), StoreError> {
    match holder {
        SessionHolder::Staff(id) => {
            let own = staff_sessions::table.filter(staff_sessions::staff_id.eq(id.to_string()));
            diesel::delete(own).execute(conn).await?
        }
        SessionHolder::Token(id) => {
            let own = staff_sessions::table.filter(staff_sessions::token_id.eq(id.to_string()));
            diesel::delete(own).execute(conn).await?
        }
    };
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
