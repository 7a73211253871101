//! Links that set the password of an account, stored by the digest of their token. Each works once.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, StaffId};
use postgres::StoreError;

use crate::accounts::{self, Account, Realm};
use crate::schema::password_links;
use crate::secrets::LinkToken;

/// How a link reaches the person.
#[derive(Clone, Copy, Debug)]
pub enum Way<'a> {
    /// To this address, in lower case.
    Mail(&'a str),
    /// The operator passes it on; the person of its staff, if known.
    ByHand(Option<StaffId>),
}

pub struct UsedLink {
    /// In lower case. `None` for a link that the operator has passed on.
    pub mailed_to: Option<String>,
}

macro_rules! of_account {
    ($account:expr) => {
        password_links::table
            .filter(password_links::account_id.eq($account.id()))
            .filter(password_links::realm.eq($account.realm().as_str()))
    };
}

/// Inserts a link, and deletes the account's oldest ones beyond `max`. The caller has locked the staff, if it is one of theirs.
pub async fn insert(
    conn: &mut AsyncPgConnection,
    (account, way): (Account, Way<'_>),
    token: &LinkToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
    max: i64,
) -> Result<(), StoreError> {
    accounts::lock(conn, account).await?;
    let beyond: Vec<Vec<u8>> = of_account!(account)
        .order(password_links::created_at.desc())
        .offset(max - 1)
        .select(password_links::token_hash)
        .load(conn)
        .await?;
    let beyond = password_links::table.filter(password_links::token_hash.eq_any(beyond));
    diesel::delete(beyond).execute(conn).await?;
    let (mailed_to, issuer) = match way {
        Way::Mail(address) => (Some(address), None),
        Way::ByHand(issuer) => (None, issuer),
    };
    diesel::insert_into(password_links::table)
        .values((
            password_links::token_hash.eq(token.digest().to_vec()),
            password_links::account_id.eq(account.id()),
            password_links::realm.eq(account.realm().as_str()),
            password_links::created_at.eq(now),
            password_links::expires_at.eq(expires_at),
            password_links::issued_by.eq(issuer.map(|id| id.to_string())),
            password_links::mailed_to.eq(mailed_to),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether the account has an open link that was mailed.
pub async fn has_mailed(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = of_account!(Account::User(account))
        .filter(password_links::mailed_to.is_not_null())
        .filter(password_links::expires_at.gt(now));
    Ok(diesel::select(diesel::dsl::exists(open)).get_result(conn).await?)
}

/// The account whose password the link sets, unless it has expired.
pub async fn find(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<Account>, StoreError> {
    let row: Option<(String, String)> = password_links::table
        .find(token.digest().to_vec())
        .filter(password_links::expires_at.gt(now))
        .select((password_links::realm, password_links::account_id))
        .first(conn)
        .await
        .optional()?;
    row.map(|(realm, id)| accounts::read(&realm, &id)).transpose()
}

/// Consumes a link. `None` if it is already used or replaced.
pub async fn consume(
    conn: &mut AsyncPgConnection,
    account: Account,
    token: &LinkToken,
) -> Result<Option<UsedLink>, StoreError> {
    accounts::lock(conn, account).await?;
    let link = of_account!(account).filter(password_links::token_hash.eq(token.digest().to_vec()));
    let consumed = diesel::delete(link).returning(password_links::mailed_to);
    let used = consumed.get_result(conn).await.optional()?;
    Ok(used.map(|mailed_to| UsedLink { mailed_to }))
}

/// Deletes all links of the account.
pub async fn remove_all(conn: &mut AsyncPgConnection, account: Account) -> Result<(), StoreError> {
    diesel::delete(of_account!(account)).execute(conn).await?;
    Ok(())
}

/// Deletes the links that this person of the staff issued for accounts of the realm.
pub async fn remove_issued_by(
    conn: &mut AsyncPgConnection,
    issuer: StaffId,
    realm: Realm,
) -> Result<(), StoreError> {
    let issued = password_links::table
        .filter(password_links::issued_by.eq(issuer.to_string()))
        .filter(password_links::realm.eq(realm.as_str()));
    diesel::delete(issued).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` expired links, and returns how many. Covers all accounts.
pub async fn prune(conn: &mut AsyncPgConnection, now: DateTime<Utc>, max: i64) -> Result<usize, StoreError> {
    prune!(conn, max, password_links::token_hash: Vec<u8>, password_links::expires_at.le(now))
}
