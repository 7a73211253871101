//! Sessions of the users of a business, by who has authenticated them: its identity provider, or a password.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::schema::{memberships, sessions};
use crate::domain::Role;

/// Ends the sessions that the provider of the business has opened: of one user, or of all. Returns how many.
pub(crate) async fn revoke_single_sign_on(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: Option<UserId>,
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    // By the index of the sessions' users.
    let all =
        memberships::table.filter(memberships::business_id.eq(business.to_string())).select(memberships::id);
    let open = sessions::table
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::user_id.eq_any(all))
        .filter(sessions::single_sign_on)
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let revoke = diesel::update(open).set(sessions::revoked_at.eq(now)).into_boxed();
    let revoke = match user {
        Some(user) => revoke.filter(sessions::user_id.eq(user.to_string())),
        None => revoke,
    };
    Ok(revoke.execute(conn).await?)
}

/// Ends the sessions that people other than owners have opened with a password, and returns their ids.
pub(crate) async fn revoke_passwords_but_of_owners(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<Vec<String>, StoreError> {
    let others = memberships::table
        .filter(memberships::business_id.eq(business.to_string()))
        .filter(memberships::role.ne(Role::Owner.as_str()))
        .select(memberships::id);
    let open = sessions::table
        .filter(sessions::business_id.eq(business.to_string()))
        .filter(sessions::user_id.eq_any(others))
        .filter(diesel::dsl::not(sessions::single_sign_on))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let revoke = diesel::update(open).set(sessions::revoked_at.eq(now)).returning(sessions::id);
    Ok(revoke.get_results(conn).await?)
}
