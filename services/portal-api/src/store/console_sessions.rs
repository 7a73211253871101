//! Console sessions of persons, with their role.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{SessionId, StaffId};
use identity::sessions::{OpenAt, TIMES, Times};
use identity::{Realm, SessionToken, is_open, stored};
use postgres::StoreError;

use crate::domain::OperatorRole;
use crate::store::schema::{accounts, sessions, staff_roles};

/// An open session of a person, with the present role.
pub(crate) struct StaffSession {
    pub(crate) session: SessionId,
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

type PersonRow = (String, (String, Option<String>, String, String), Times, (DateTime<Utc>, bool));

/// The session of a person's cookie. `None` if it has ended.
pub(crate) async fn of_person(
    conn: &mut AsyncPgConnection,
    token: &SessionToken,
    open: OpenAt,
) -> Result<Option<StaffSession>, StoreError> {
    let row: Option<PersonRow> = sessions::table
        .inner_join(accounts::table.inner_join(staff_roles::table))
        .filter(sessions::token_hash.eq(token.digest().to_vec()))
        .filter(sessions::realm.eq(Realm::Staff.as_str()))
        .filter(is_open!(open))
        .select((
            sessions::id,
            (accounts::id, accounts::name, accounts::email, staff_roles::role),
            TIMES,
            (sessions::authenticated_at, sessions::single_sign_on),
        ))
        .first(conn)
        .await
        .optional()?;
    row.map(|(session, (id, name, email, role), times, (authenticated_at, single_sign_on))| {
        let (created_at, expires_at, last_seen_at) = times;
        Ok(StaffSession {
            session: stored("sessions.id", &session)?,
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
