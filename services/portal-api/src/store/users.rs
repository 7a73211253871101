//! People who log in.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::schema::{businesses, users};
use super::stored;
use crate::domain::Email;

/// The role of whoever signed the business up; so far the only one.
pub(crate) const OWNER: &str = "owner";

pub(crate) struct NewUser<'a> {
    pub(crate) id: UserId,
    pub(crate) business: BusinessId,
    pub(crate) email: &'a Email,
    pub(crate) password_hash: &'a str,
    pub(crate) created_at: DateTime<Utc>,
}

/// What a log-in is checked against.
pub(crate) struct Credentials {
    pub(crate) user: UserId,
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) email: String,
    pub(crate) role: String,
    pub(crate) password_hash: String,
}

/// False when the e-mail belongs to an account already; the transaction is still good then.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, user: &NewUser<'_>) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(users::table)
        .values((
            users::id.eq(user.id.to_string()),
            users::business_id.eq(user.business.to_string()),
            users::email.eq(user.email.as_str()),
            users::email_key.eq(user.email.key()),
            users::password_hash.eq(user.password_hash),
            users::role.eq(OWNER),
            users::created_at.eq(user.created_at),
        ))
        .on_conflict(users::email_key)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

pub(crate) async fn credentials(
    conn: &mut AsyncPgConnection,
    email: &Email,
) -> Result<Option<Credentials>, StoreError> {
    let row: Option<(String, String, String, String, String, String)> = users::table
        .inner_join(businesses::table)
        .filter(users::email_key.eq(email.key()))
        .select((
            users::id,
            users::business_id,
            businesses::name,
            users::email,
            users::role,
            users::password_hash,
        ))
        .first(conn)
        .await
        .optional()?;
    let Some((id, business, business_name, email, role, password_hash)) = row else { return Ok(None) };
    Ok(Some(Credentials {
        user: stored("users.id", &id)?,
        business: stored("users.business_id", &business)?,
        business_name,
        email,
        role,
        password_hash,
    }))
}
