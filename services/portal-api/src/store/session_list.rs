//! The open sessions of an account, for its person.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, SessionId};
use postgres::StoreError;

use super::schema::{businesses, sessions};
use super::stored;
use crate::domain::{Lifetimes, OpenAt, OpenSession};

#[derive(Queryable)]
struct OpenSessionRow {
    id: String,
    created_at: DateTime<Utc>,
    last_seen_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    address: Option<String>,
    user_agent: Option<String>,
    business: String,
    business_name: String,
}

/// The open sessions of an account, newest first. Reads one more than `limit` to show that more follow. `None` if `after` is
/// not a session of the account.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    limit: usize,
    after: Option<SessionId>,
    open: OpenAt,
) -> Result<Option<Vec<OpenSession>>, StoreError> {
    let mut query = sessions::table
        .inner_join(businesses::table)
        .filter(sessions::account_id.eq(account.to_string()))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(open.now))
        .filter(sessions::last_seen_at.gt(open.used_after))
        .filter(sessions::created_at.gt(open.created_after))
        .order(sessions::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select((
            sessions::id,
            sessions::created_at,
            sessions::last_seen_at,
            sessions::expires_at,
            sessions::address,
            sessions::user_agent,
            sessions::business_id,
            businesses::name,
        ))
        .into_boxed();
    if let Some(after) = after {
        // A session that has ended since is still a valid cursor.
        let known =
            sessions::table.find(after.to_string()).filter(sessions::account_id.eq(account.to_string()));
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(sessions::id.lt(after.to_string()));
    }
    let rows: Vec<OpenSessionRow> = query.load(conn).await?;
    rows.into_iter().map(|row| listed(row, open.lifetimes)).collect::<Result<_, _>>().map(Some)
}

fn listed(row: OpenSessionRow, lifetimes: Lifetimes) -> Result<OpenSession, StoreError> {
    Ok(OpenSession {
        id: stored("sessions.id", &row.id)?,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        expires_at: row.expires_at.min(lifetimes.end(row.created_at, row.last_seen_at)),
        address: row.address,
        user_agent: row.user_agent,
        business: Some((stored("sessions.business_id", &row.business)?, row.business_name)),
    })
}
