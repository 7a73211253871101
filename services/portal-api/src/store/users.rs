//! Users.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::memberships::account_of;
use super::new_users::{WITHOUT_PASSWORD, is_without_password};
use super::schema::users;
use super::stored;
use crate::domain::{Credentials, Email, Role, User, UserKey};

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct UserRow {
    id: String,
    email: String,
    email_verified_at: Option<DateTime<Utc>>,
    name: Option<String>,
    role: String,
    created_at: DateTime<Utc>,
    last_seen_at: Option<DateTime<Utc>>,
    #[diesel(select_expression = sql::<Bool>(HAS_SECOND_FACTOR), select_expression_type = SqlLiteral<Bool>)]
    has_second_factor: bool,
    email_key: String,
}

const HAS_SECOND_FACTOR: &str = "EXISTS (SELECT FROM second_factors AS factor
    WHERE factor.user_id = coalesce(users.account_id, users.id)
        AND factor.business_id = coalesce(users.account_business_id, users.business_id)
        AND factor.confirmed_at IS NOT NULL)";

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct CredentialsRow {
    id: String,
    business_id: String,
    email: String,
    email_verified_at: Option<DateTime<Utc>>,
    name: Option<String>,
    password_hash: String,
}

/// The account with this address. Searches all businesses, because a log-in does not name the business.
pub(crate) async fn credentials(
    conn: &mut AsyncPgConnection,
    email: &Email,
) -> Result<Option<Credentials>, StoreError> {
    let row = users::table
        .filter(users::email_key.eq(email.key()))
        .select(CredentialsRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Credentials::try_from).transpose()
}

/// The account of a known user of any of its businesses.
pub(crate) async fn credentials_of(
    conn: &mut AsyncPgConnection,
    user: UserKey,
) -> Result<Option<Credentials>, StoreError> {
    let Some((business, user)) = account_of(conn, user).await? else { return Ok(None) };
    let row = users::table
        .find(user.to_string())
        .filter(users::business_id.eq(business.to_string()))
        .select(CredentialsRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Credentials::try_from).transpose()
}

/// Locks the user, and before it the account, until the transaction ends; see [`lock_unchanged`].
pub(crate) async fn lock(conn: &mut AsyncPgConnection, user: UserKey) -> Result<(), StoreError> {
    let account = account_of(conn, user).await?.unwrap_or(user);
    let further = (account != user).then_some(user);
    for (business, user) in [Some(account), further].into_iter().flatten() {
        let user = users::table
            .find(user.to_string())
            .filter(users::business_id.eq(business.to_string()))
            .select(users::id)
            .for_no_key_update();
        user.first::<String>(conn).await.optional()?;
    }
    Ok(())
}

/// Locks the account until the transaction ends. False if the password has changed since it was checked, or the account was
/// removed. To avoid deadlocks, every transaction locks first the business that it changes, then the account, then further
/// memberships of it, and then attempts, sessions and links.
pub(crate) async fn lock_unchanged(
    conn: &mut AsyncPgConnection,
    checked: &Credentials,
) -> Result<bool, StoreError> {
    let locked: Option<String> = users::table
        .find(checked.user.to_string())
        .filter(users::business_id.eq(checked.business.to_string()))
        .filter(users::password_hash.eq(&checked.password_hash))
        .select(users::id)
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    Ok(locked.is_some())
}

/// The users of a business, oldest first. Reads one more than `limit` to show that more follow. `None` if `after` is not
/// among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    limit: usize,
    after: Option<UserId>,
) -> Result<Option<Vec<User>>, StoreError> {
    let mut query = users::table
        .filter(users::business_id.eq(business.to_string()))
        .order(users::id)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(UserRow::as_select())
        .into_boxed();
    if let Some(after) = after {
        if find(conn, business, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(users::id.gt(after.to_string()));
    }
    let rows: Vec<UserRow> = query.load(conn).await?;
    rows.into_iter().map(User::try_from).collect::<Result<_, _>>().map(Some)
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<Option<User>, StoreError> {
    let row = users::table
        .find(user.to_string())
        .filter(users::business_id.eq(business.to_string()))
        .select(UserRow::as_select())
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
    let accounts = diesel::alias!(users as accounts);
    let of_account = accounts
        .filter(accounts.field(users::email_key).eq(email.key()))
        .select(accounts.field(users::id).nullable());
    let row = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::email_key.eq(email.key()).or(users::account_id.eq_any(of_account)))
        .select(UserRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(User::try_from).transpose()
}

/// The e-mail addresses of the business's users with one of these roles.
pub(crate) async fn emails_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    wanted: &[Role],
) -> Result<Vec<String>, StoreError> {
    let of_role = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::role.eq_any(wanted.iter().map(|role| role.as_str())));
    Ok(of_role.order(users::id).select(users::email).load(conn).await?)
}

/// The e-mail addresses of these users, as far as they exist.
pub(crate) async fn emails_by_id(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[UserId],
) -> Result<HashMap<UserId, String>, StoreError> {
    let emails = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::id.eq_any(ids.iter().map(ToString::to_string)))
        .select((users::id, users::email));
    let rows: Vec<(String, String)> = emails.load(conn).await?;
    rows.into_iter().map(|(id, email)| Ok((stored("users.id", &id)?, email))).collect()
}

/// The names of these users, as far as they exist and have one.
pub(crate) async fn names_by_id(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    ids: &[String],
) -> Result<HashMap<String, String>, StoreError> {
    let names = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::id.eq_any(ids))
        .select((users::id, users::name));
    let rows: Vec<(String, Option<String>)> = names.load(conn).await?;
    Ok(rows.into_iter().filter_map(|(id, name)| Some((id, name?))).collect())
}

pub(crate) async fn count(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<i64, StoreError> {
    let own = users::table.filter(users::business_id.eq(business.to_string()));
    Ok(own.count().get_result(conn).await?)
}

/// Whether the business has another owner who can log in with a password: a broken provider must not lock all owners out. Exact
/// while the business's row is locked.
pub(crate) async fn has_other_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<bool, StoreError> {
    let others = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::id.ne(user.to_string()))
        .filter(users::role.eq(Role::Owner.as_str()))
        .filter(users::email_key.not_like(WITHOUT_PASSWORD));
    Ok(diesel::select(diesel::dsl::exists(others)).get_result(conn).await?)
}

/// Locks all users of the business until the transaction ends, before a change of all their sessions.
pub(crate) async fn lock_all(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    let all = users::table
        .filter(users::business_id.eq(business.to_string()))
        .order(users::id)
        .select(users::id)
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
    let user = users::table.find(user.to_string()).filter(users::business_id.eq(business.to_string()));
    Ok(diesel::update(user).set(users::role.eq(role.as_str())).execute(conn).await? == 1)
}

/// Of an account; a trigger writes it to the further memberships. False if there is no such user.
pub(crate) async fn set_name(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    name: Option<&str>,
) -> Result<bool, StoreError> {
    let user = users::table.find(user.to_string()).filter(users::business_id.eq(business.to_string()));
    Ok(diesel::update(user).set(users::name.eq(name)).execute(conn).await? == 1)
}

/// Writes a new password hash of an account. With `from`, only if the stored hash is still that one: of two concurrent changes
/// only one succeeds.
pub(crate) async fn set_password(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    from: Option<&str>,
    to: &str,
) -> Result<bool, StoreError> {
    let mut update = diesel::update(users::table)
        .set(users::password_hash.eq(to))
        .filter(users::id.eq(user.to_string()))
        .filter(users::business_id.eq(business.to_string()))
        .into_boxed();
    if let Some(from) = from {
        update = update.filter(users::password_hash.eq(from.to_owned()));
    }
    let updated = update.execute(conn).await?;
    Ok(updated == 1)
}

/// Deletes a user who has no sessions any more. If it is an account with further memberships, a trigger makes one of them the
/// account. False if there is no such user.
pub(crate) async fn remove(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<bool, StoreError> {
    let user = users::table.find(user.to_string()).filter(users::business_id.eq(business.to_string()));
    Ok(diesel::delete(user).execute(conn).await? == 1)
}

impl TryFrom<CredentialsRow> for Credentials {
    type Error = StoreError;

    fn try_from(row: CredentialsRow) -> Result<Self, StoreError> {
        Ok(Self {
            user: stored("users.id", &row.id)?,
            business: stored("users.business_id", &row.business_id)?,
            email: row.email,
            email_verified: row.email_verified_at.is_some(),
            name: row.name,
            password_hash: row.password_hash,
        })
    }
}

impl TryFrom<UserRow> for User {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("users.id", &row.id)?,
            email: row.email,
            email_verified: row.email_verified_at.is_some(),
            name: row.name,
            role: stored("users.role", &row.role)?,
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            has_second_factor: row.has_second_factor,
            has_password: !is_without_password(&row.email_key),
        })
    }
}
