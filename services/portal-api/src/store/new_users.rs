//! New users, by how they log in.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::schema::users;
use crate::domain::{Email, Role, UserKey};

pub(crate) struct NewUser<'a> {
    pub(crate) id: UserId,
    pub(crate) business: BusinessId,
    pub(crate) email: &'a Email,
    pub(crate) email_verified_at: Option<DateTime<Utc>>,
    pub(crate) name: Option<&'a str>,
    pub(crate) log_in: LogInBy<'a>,
    pub(crate) role: Role,
    pub(crate) created_at: DateTime<Utc>,
}

/// How a new user logs in.
#[derive(Clone, Copy)]
pub(crate) enum LogInBy<'a> {
    /// The user is an account: with their address and this password.
    Password { hash: &'a str },
    /// With another user's address and password: a further membership of that account. No password has this hash.
    Account { account: UserKey, unusable_hash: &'a str },
    /// With the identity provider of the business only. The address identifies no account: a provider that one business has chosen
    /// must not occupy an address for the installation.
    SingleSignOn { unusable_hash: &'a str },
}

/// The keys of users who log in with single sign-on only. No e-mail address looks so.
pub(super) const WITHOUT_PASSWORD: &str = "sso:%";

pub(super) fn is_without_password(email_key: &str) -> bool {
    email_key.starts_with(WITHOUT_PASSWORD.trim_end_matches('%'))
}

impl NewUser<'_> {
    /// The key, which identifies the user at a log-in with a password, the hash, and the account of a further membership.
    fn log_in(&self) -> (String, &str, Option<UserKey>) {
        match self.log_in {
            LogInBy::Password { hash } => (self.email.key(), hash, None),
            // Nobody logs in with an id: it is no address.
            LogInBy::Account { account, unusable_hash } => {
                (self.id.to_string(), unusable_hash, Some(account))
            }
            LogInBy::SingleSignOn { unusable_hash } => (format!("sso:{}", self.id), unusable_hash, None),
        }
    }
}

/// False if the e-mail address already has an account. The transaction remains usable.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, user: &NewUser<'_>) -> Result<bool, StoreError> {
    let (email_key, hash, account) = user.log_in();
    let inserted = diesel::insert_into(users::table)
        .values((
            users::id.eq(user.id.to_string()),
            users::business_id.eq(user.business.to_string()),
            users::email.eq(user.email.as_str()),
            users::email_key.eq(email_key),
            users::email_verified_at.eq(user.email_verified_at),
            users::name.eq(user.name),
            users::password_hash.eq(hash),
            users::account_id.eq(account.map(|(_, account)| account.to_string())),
            users::account_business_id.eq(account.map(|(business, _)| business.to_string())),
            users::role.eq(user.role.as_str()),
            users::created_at.eq(user.created_at),
        ))
        .on_conflict(users::email_key)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}
