//! The users of a business: memberships with their accounts.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Email, UserId};
use identity::stored;
use postgres::StoreError;

use crate::domain::{Role, User, UserKey};
use crate::store::memberships::account_of;
use crate::store::schema::{accounts, memberships};
use diesel::prelude::*;

#[derive(Queryable)]
struct UserRow {
    id: String,
    email: String,
    email_verified_at: Option<DateTime<Utc>>,
    name: Option<String>,
    role: String,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    has_second_factor: bool,
    has_password: bool,
}

const HAS_SECOND_FACTOR: &str = "EXISTS (SELECT FROM second_factors AS factor
    WHERE factor.account_id = accounts.id AND factor.confirmed_at IS NOT NULL)";

/// Also an address of an account that a provider has made, which identifies nobody.
macro_rules! has_address {
    ($email:expr) => {
        diesel::dsl::sql::<diesel::sql_types::Bool>("coalesce(accounts.email_key, lower(accounts.email)) = ")
            .bind::<diesel::sql_types::Text, _>($email.key())
    };
}
pub(crate) use has_address;

/// The users of a business, with their accounts.
macro_rules! of_business {
    ($business:expr) => {
        memberships::table
            .inner_join(accounts::table)
            .filter(memberships::business_id.eq($business.to_string()))
    };
}

macro_rules! columns {
    () => {
        (
            memberships::id,
            accounts::email,
            accounts::email_verified_at,
            accounts::name,
            memberships::role,
            memberships::created_at,
            memberships::last_seen_at,
            sql::<Bool>(HAS_SECOND_FACTOR),
            accounts::password_hash.is_not_null(),
        )
    };
}

/// Locks the user, and before it the account, until the transaction ends; see [`accounts::lock`](super::accounts::lock).
pub(crate) async fn lock(conn: &mut AsyncPgConnection, (business, user): UserKey) -> Result<(), StoreError> {
    let Some(account) = account_of(conn, (business, user)).await? else { return Ok(()) };
    identity::accounts::lock(conn, account).await?;
    let user = memberships::table
        .find(user.to_string())
        .filter(memberships::business_id.eq(business.to_string()))
        .select(memberships::id)
        .for_no_key_update();
    user.first::<String>(conn).await.optional()?;
    Ok(())
}

/// The users of a business, oldest first. Reads one more than `limit` to show that more follow. `None` if `after` is not
/// among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    limit: usize,
    after: Option<UserId>,
) -> Result<Option<Vec<User>>, StoreError> {
    let mut query = of_business!(business)
        .order(memberships::id)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(columns!())
        .into_boxed();
    if let Some(after) = after {
        if find(conn, business, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(memberships::id.gt(after.to_string()));
    }
    let rows: Vec<UserRow> = query.load(conn).await?;
    rows.into_iter().map(User::try_from).collect::<Result<_, _>>().map(Some)
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<Option<User>, StoreError> {
    let row: Option<UserRow> = of_business!(business)
        .filter(memberships::id.eq(user.to_string()))
        .select(columns!())
        .first(conn)
        .await
        .optional()?;
    row.map(User::try_from).transpose()
}

/// Whether the user is an owner of the business.
pub(crate) async fn is_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<bool, StoreError> {
    Ok(find(conn, business, user).await?.is_some_and(|user| user.role == Role::Owner))
}

/// The user of the business whose account has the address.
pub(crate) async fn find_by_email(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    email: &Email,
) -> Result<Option<User>, StoreError> {
    let row: Option<UserRow> = of_business!(business)
        .filter(accounts::email_key.eq(email.key()))
        .select(columns!())
        .first(conn)
        .await
        .optional()?;
    row.map(User::try_from).transpose()
}

/// Whether it is the verified address of a user of the business.
pub(crate) async fn is_verified(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    email: &Email,
) -> Result<bool, StoreError> {
    let verified =
        of_business!(business).filter(has_address!(email)).filter(accounts::email_verified_at.is_not_null());
    Ok(diesel::select(diesel::dsl::exists(verified)).get_result(conn).await?)
}

/// The e-mail addresses of the business's users with one of these roles.
pub(crate) async fn emails_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    wanted: &[Role],
) -> Result<Vec<String>, StoreError> {
    let of_role = of_business!(business)
        .filter(memberships::role.eq_any(wanted.iter().map(|role| role.as_str())))
        .order(memberships::id)
        .select(accounts::email);
    Ok(of_role.load(conn).await?)
}

/// The e-mail addresses of these users, as far as they exist.
pub(crate) async fn emails_by_id(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[UserId],
) -> Result<HashMap<UserId, String>, StoreError> {
    let emails = of_business!(business)
        .filter(memberships::id.eq_any(ids.iter().map(ToString::to_string)))
        .select((memberships::id, accounts::email));
    let rows: Vec<(String, String)> = emails.load(conn).await?;
    rows.into_iter().map(|(id, email)| Ok((stored("memberships.id", &id)?, email))).collect()
}

/// The names of these users, as far as they exist and have one.
pub(crate) async fn names_by_id(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[String],
) -> Result<HashMap<String, String>, StoreError> {
    let names =
        of_business!(business).filter(memberships::id.eq_any(ids)).select((memberships::id, accounts::name));
    let rows: Vec<(String, Option<String>)> = names.load(conn).await?;
    Ok(rows.into_iter().filter_map(|(id, name)| Some((id, name?))).collect())
}

pub(crate) async fn count(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<i64, StoreError> {
    let own = memberships::table.filter(memberships::business_id.eq(business.to_string()));
    Ok(own.count().get_result(conn).await?)
}

/// Whether the business has another owner who can log in with a password: a broken provider must not lock all owners out. Exact
/// while the business's row is locked.
pub(crate) async fn has_other_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<bool, StoreError> {
    let others = of_business!(business)
        .filter(memberships::id.ne(user.to_string()))
        .filter(memberships::role.eq(Role::Owner.as_str()))
        .filter(accounts::password_hash.is_not_null());
    Ok(diesel::select(diesel::dsl::exists(others)).get_result(conn).await?)
}

/// Locks all users of the business until the transaction ends, before a change of all their sessions.
pub(crate) async fn lock_all(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    let all = memberships::table
        .filter(memberships::business_id.eq(business.to_string()))
        .order(memberships::id)
        .select(memberships::id)
        .for_no_key_update();
    all.load::<String>(conn).await?;
    Ok(())
}

/// False if there is no such user.
pub(crate) async fn set_role(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
    role: Role,
) -> Result<bool, StoreError> {
    let user =
        memberships::table.find(user.to_string()).filter(memberships::business_id.eq(business.to_string()));
    Ok(diesel::update(user).set(memberships::role.eq(role.as_str())).execute(conn).await? == 1)
}

/// Deletes a user who has no sessions any more, and the account if it was its last membership. The caller has locked the user.
pub(crate) async fn remove(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<(), StoreError> {
    let Some(account) = account_of(conn, (business, user)).await? else { return Ok(()) };
    let user =
        memberships::table.find(user.to_string()).filter(memberships::business_id.eq(business.to_string()));
    diesel::delete(user).execute(conn).await?;
    super::user_accounts::remove_if_unused(conn, account).await
}

impl TryFrom<UserRow> for User {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("memberships.id", &row.id)?,
            email: row.email,
            email_verified: row.email_verified_at.is_some(),
            name: row.name,
            role: stored("memberships.role", &row.role)?,
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            has_second_factor: row.has_second_factor,
            has_password: row.has_password,
        })
    }
}
