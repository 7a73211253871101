//! Accounts of people: what logs in.

mod account;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, BusinessId, Email};
use postgres::{StoreError, violates};

pub use account::{Account, Credentials, Realm};

use crate::schema::accounts;
use crate::stored;

pub struct NewAccount<'a> {
    pub id: AccountId,
    pub email: &'a Email,
    pub email_verified_at: Option<DateTime<Utc>>,
    pub name: Option<&'a str>,
    pub log_in: LogInBy<'a>,
    pub created_at: DateTime<Utc>,
}

/// How the person of a new account logs in.
#[derive(Clone, Copy)]
pub enum LogInBy<'a> {
    /// With the address and the password with this hash.
    Password(&'a str),
    /// With the identity provider of the business only.
    ProviderOf(BusinessId),
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts)]
struct CredentialsRow {
    realm: String,
    id: String,
    email: String,
    email_verified_at: Option<DateTime<Utc>>,
    name: Option<String>,
    password_hash: Option<String>,
}

/// The accounts of businesses' users.
macro_rules! of_users {
    () => {
        accounts::table.filter(accounts::realm.eq(Realm::User.as_str()))
    };
}

macro_rules! of_account {
    ($account:expr) => {
        accounts::table
            .filter(accounts::id.eq($account.id()))
            .filter(accounts::realm.eq($account.realm().as_str()))
    };
}

/// The account of stored columns.
pub fn read(realm: &str, id: &str) -> Result<Account, StoreError> {
    Ok(match stored("accounts.realm", realm)? {
        Realm::User => Account::User(stored("accounts.id", id)?),
        Realm::Staff => Account::Staff(stored("accounts.id", id)?),
    })
}

/// False if the e-mail address already has an account. The transaction remains usable.
pub async fn insert(conn: &mut AsyncPgConnection, new: &NewAccount<'_>) -> Result<bool, StoreError> {
    let (email_key, hash, provider_of) = match new.log_in {
        LogInBy::Password(hash) => (Some(new.email.key()), Some(hash), None),
        LogInBy::ProviderOf(business) => (None, None, Some(business.to_string())),
    };
    let inserted = diesel::insert_into(accounts::table)
        .values((
            accounts::id.eq(new.id.to_string()),
            accounts::realm.eq(Realm::User.as_str()),
            accounts::email.eq(new.email.as_str()),
            accounts::email_key.eq(email_key),
            accounts::email_verified_at.eq(new.email_verified_at),
            accounts::name.eq(new.name),
            accounts::password_hash.eq(hash),
            accounts::provider_of.eq(provider_of),
            accounts::created_at.eq(new.created_at),
        ))
        .on_conflict((accounts::realm, accounts::email_key))
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// The account with this address. Searches all businesses, because a log-in does not name the business.
pub async fn by_email(
    conn: &mut AsyncPgConnection,
    (realm, email): (Realm, &Email),
) -> Result<Option<Credentials>, StoreError> {
    let found = accounts::table
        .filter(accounts::realm.eq(realm.as_str()))
        .filter(accounts::email_key.eq(email.key()));
    let row = found.select(CredentialsRow::as_select()).first(conn).await.optional()?;
    row.map(Credentials::try_from).transpose()
}

pub async fn credentials(
    conn: &mut AsyncPgConnection,
    account: Account,
) -> Result<Option<Credentials>, StoreError> {
    let row = of_account!(account).select(CredentialsRow::as_select()).first(conn).await.optional()?;
    row.map(Credentials::try_from).transpose()
}

/// Locks the account until the transaction ends. To avoid deadlocks, every transaction locks first the business that it changes,
/// then the account, then memberships of it, and then attempts, sessions and links.
pub async fn lock(conn: &mut AsyncPgConnection, account: impl Into<Account>) -> Result<(), StoreError> {
    let account: Account = account.into();
    let account = of_account!(account).select(accounts::id).for_no_key_update();
    account.first::<String>(conn).await.optional()?;
    Ok(())
}

/// As [`lock`]. False if the password has changed since it was checked, or the account was removed.
pub async fn lock_unchanged(
    conn: &mut AsyncPgConnection,
    account: Account,
    checked_hash: Option<&str>,
) -> Result<bool, StoreError> {
    let locked: Option<String> = of_account!(account)
        .filter(accounts::password_hash.is_not_distinct_from(checked_hash))
        .select(accounts::id)
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    Ok(locked.is_some())
}

pub async fn set_name(
    conn: &mut AsyncPgConnection,
    account: Account,
    name: Option<&str>,
) -> Result<(), StoreError> {
    diesel::update(of_account!(account)).set(accounts::name.eq(name)).execute(conn).await?;
    Ok(())
}

/// Writes a new password hash. False if there is no such account.
pub async fn set_password(
    conn: &mut AsyncPgConnection,
    account: Account,
    hash: &str,
) -> Result<bool, StoreError> {
    let changed = diesel::update(of_account!(account)).set(accounts::password_hash.eq(hash));
    Ok(changed.execute(conn).await? == 1)
}

/// Whether an account has the address.
pub async fn is_taken(conn: &mut AsyncPgConnection, email: &Email) -> Result<bool, StoreError> {
    let taken = of_users!().filter(accounts::email_key.eq(email.key()));
    Ok(diesel::select(diesel::dsl::exists(taken)).get_result(conn).await?)
}

/// Marks the address as verified. False if it already was.
pub async fn verify_email(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let unverified = accounts::table.find(account.to_string()).filter(accounts::email_verified_at.is_null());
    Ok(diesel::update(unverified).set(accounts::email_verified_at.eq(now)).execute(conn).await? == 1)
}

/// Writes a new address. False if another account has it. If it got it at the same moment, the transaction is then unusable.
pub async fn set_email(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    email: &Email,
    verified_at: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    let others =
        of_users!().filter(accounts::email_key.eq(email.key())).filter(accounts::id.ne(account.to_string()));
    // Asked first, because PostgreSQL may log the address that breaks the constraint.
    if diesel::select(diesel::dsl::exists(others)).get_result(conn).await? {
        return Ok(false);
    }
    let change = (
        accounts::email.eq(email.as_str()),
        accounts::email_key.eq(email.key()),
        accounts::email_verified_at.eq(verified_at),
    );
    let account = accounts::table.find(account.to_string());
    match diesel::update(account).set(change).execute(conn).await {
        Ok(1) => Ok(true),
        Ok(_) => Err(diesel::result::Error::NotFound.into()),
        Err(error) if violates(&error, "accounts_email_taken") => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl TryFrom<CredentialsRow> for Credentials {
    type Error = StoreError;

    fn try_from(row: CredentialsRow) -> Result<Self, StoreError> {
        Ok(Self {
            account: read(&row.realm, &row.id)?,
            email: row.email,
            email_verified: row.email_verified_at.is_some(),
            name: row.name,
            password_hash: row.password_hash,
        })
    }
}
