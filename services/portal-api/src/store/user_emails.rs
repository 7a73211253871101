//! The e-mail addresses of users, and whether they are verified.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, violates};

use super::schema::users;
use crate::domain::{Email, UserKey};

/// Whether it is the verified address of a user of the business.
pub(crate) async fn is_verified(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    email: &Email,
) -> Result<bool, StoreError> {
    let has_other_key =
        users::account_id.is_not_null().or(users::email_key.like(super::new_users::WITHOUT_PASSWORD));
    let by_address =
        has_other_key.and(sql::<Bool>("lower(email) = lower(").bind::<Text, _>(email.as_str()).sql(")"));
    let verified = users::table
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::email_key.eq(email.key()).or(by_address))
        .filter(users::email_verified_at.is_not_null());
    Ok(diesel::select(diesel::dsl::exists(verified)).get_result(conn).await?)
}

/// Whether a user of any business has the address.
pub(crate) async fn is_taken(conn: &mut AsyncPgConnection, email: &Email) -> Result<bool, StoreError> {
    let taken = users::table.filter(users::email_key.eq(email.key()));
    Ok(diesel::select(diesel::dsl::exists(taken)).get_result(conn).await?)
}

/// Marks the address of an account as verified; a trigger marks it for the further memberships. False if it already was.
pub(crate) async fn verify(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let unverified = users::table
        .find(user.to_string())
        .filter(users::business_id.eq(business.to_string()))
        .filter(users::email_verified_at.is_null());
    Ok(diesel::update(unverified).set(users::email_verified_at.eq(now)).execute(conn).await? == 1)
}

/// Writes a new address of an account; a trigger writes it to the further memberships. False if another account has it. If
/// it got it at the same moment, the transaction is then unusable.
pub(crate) async fn replace(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    email: &Email,
    verified_at: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    let others = users::table.filter(users::email_key.eq(email.key())).filter(users::id.ne(user.to_string()));
    // Asked first, because PostgreSQL may log the address that breaks the constraint.
    if diesel::select(diesel::dsl::exists(others)).get_result(conn).await? {
        return Ok(false);
    }
    let user = users::table.find(user.to_string()).filter(users::business_id.eq(business.to_string()));
    let change = (
        users::email.eq(email.as_str()),
        users::email_key.eq(email.key()),
        users::email_verified_at.eq(verified_at),
    );
    match diesel::update(user).set(change).execute(conn).await {
        Ok(1) => Ok(true),
        Ok(_) => Err(diesel::result::Error::NotFound.into()),
        Err(error) if violates(&error, "users_email_taken") => Ok(false),
        Err(error) => Err(error.into()),
    }
}
