//! Accounts of users with their oldest membership.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, Email};
use identity::accounts::Credentials;
use identity::{Account, Realm, stored};
use postgres::StoreError;

use crate::domain::UserAccount;
use crate::store::schema::{accounts, memberships};
use diesel::prelude::*;

/// The user's account with this address.
pub(crate) async fn by_email(
    conn: &mut AsyncPgConnection,
    email: &Email,
) -> Result<Option<UserAccount>, StoreError> {
    match identity::accounts::by_email(conn, (Realm::User, email)).await? {
        Some(Credentials { account: Account::User(id), .. }) => of(conn, id).await,
        _ => Ok(None),
    }
}

pub(crate) async fn of(
    conn: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<Option<UserAccount>, StoreError> {
    let row: Option<(String, String, String, Option<DateTime<Utc>>)> = accounts::table
        .inner_join(memberships::table)
        .filter(accounts::id.eq(account.to_string()))
        .filter(accounts::realm.eq(Realm::User.as_str()))
        .order(memberships::id)
        .select((memberships::id, memberships::business_id, accounts::email, accounts::email_verified_at))
        .first(conn)
        .await
        .optional()?;
    row.map(|(user, business, email, verified_at)| {
        let (user, business) =
            (stored("memberships.id", &user)?, stored("memberships.business_id", &business)?);
        Ok(UserAccount { account, user, business, email, email_verified: verified_at.is_some() })
    })
    .transpose()
}

/// Deletes an account that belongs to no business any more, with its factor and its links.
pub(crate) async fn remove_if_unused(
    conn: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<(), StoreError> {
    let left = memberships::table.filter(memberships::account_id.eq(account.to_string()));
    if diesel::select(diesel::dsl::exists(left)).get_result::<bool>(conn).await? {
        return Ok(());
    }
    diesel::delete(accounts::table.find(account.to_string())).execute(conn).await?;
    Ok(())
}
