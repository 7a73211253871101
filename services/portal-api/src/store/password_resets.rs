//! Password reset links, stored by the digest of their token.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, StaffId};
use postgres::StoreError;

use super::schema::password_resets;
use super::{accounts, stored};
use crate::domain::LinkToken;

/// How a link reaches the user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way<'a> {
    /// To this address, in lower case.
    Mail(&'a str),
    /// The operator passes it on; the person of its staff, if known.
    ByHand(Option<StaffId>),
}

/// Inserts a link for the account, and deletes its oldest ones beyond `max`.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    (account, way): (AccountId, Way<'_>),
    token: &LinkToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
    max: i64,
) -> Result<(), StoreError> {
    accounts::lock(conn, account).await?;
    let own = || password_resets::table.filter(password_resets::account_id.eq(account.to_string()));
    let beyond: Vec<Vec<u8>> = own()
        .order(password_resets::created_at.desc())
        .offset(max - 1)
        .select(password_resets::token_hash)
        .load(conn)
        .await?;
    diesel::delete(own().filter(password_resets::token_hash.eq_any(beyond))).execute(conn).await?;
    let (mailed_to, issuer) = match way {
        Way::Mail(address) => (Some(address), None),
        Way::ByHand(issuer) => (None, issuer),
    };
    diesel::insert_into(password_resets::table)
        .values((
            password_resets::token_hash.eq(token.digest().to_vec()),
            password_resets::account_id.eq(account.to_string()),
            password_resets::created_at.eq(now),
            password_resets::expires_at.eq(expires_at),
            password_resets::issued_by.eq(issuer.map(|id| id.to_string())),
            password_resets::mailed_to.eq(mailed_to),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether the account has an open link that was mailed.
pub(crate) async fn has_mailed(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let open = password_resets::table
        .filter(password_resets::account_id.eq(account.to_string()))
        .filter(password_resets::mailed_to.is_not_null())
        .filter(password_resets::expires_at.gt(now));
    Ok(diesel::select(diesel::dsl::exists(open)).get_result(conn).await?)
}

/// The account whose password the link resets, unless it has expired.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<AccountId>, StoreError> {
    let row: Option<String> = password_resets::table
        .find(token.digest().to_vec())
        .filter(password_resets::expires_at.gt(now))
        .select(password_resets::account_id)
        .first(conn)
        .await
        .optional()?;
    row.map(|account| stored("password_resets.account_id", &account)).transpose()
}

pub(crate) struct UsedLink {
    /// In lower case. `None` for a link that the operator has passed on.
    pub(crate) mailed_to: Option<String>,
}

/// Consumes a link. `None` if it is already used.
pub(crate) async fn consume(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    token: &LinkToken,
) -> Result<Option<UsedLink>, StoreError> {
    accounts::lock(conn, account).await?;
    let link = password_resets::table.find(token.digest().to_vec());
    let consumed = diesel::delete(link).returning(password_resets::mailed_to);
    let used = consumed.get_result(conn).await.optional()?;
    Ok(used.map(|mailed_to| UsedLink { mailed_to }))
}

/// Deletes all links of the account.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, account: AccountId) -> Result<(), StoreError> {
    let own = password_resets::table.filter(password_resets::account_id.eq(account.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Deletes all links that this person of the operator's staff issued, for users of any business.
pub(crate) async fn remove_issued_by(
    conn: &mut AsyncPgConnection,
    issuer: StaffId,
) -> Result<(), StoreError> {
    let issued = password_resets::table.filter(password_resets::issued_by.eq(issuer.to_string()));
    diesel::delete(issued).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` expired links, and returns how many. Covers all businesses.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, password_resets::token_hash: Vec<u8>, password_resets::expires_at.le(now))
}
