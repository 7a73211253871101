//! The businesses of a person: the users of one account. These queries search all businesses, because an account belongs to none
//! of them.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::schema::{businesses, users};
use super::stored;
use crate::domain::{Membership, UserKey};

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct MembershipRow {
    id: String,
    business_id: String,
    role: String,
}

/// The users of an account, given by its id: its own row, and the rows that refer to it.
macro_rules! of_account {
    ($account:expr) => {{
        let (_, account): (domain::BusinessId, domain::UserId) = $account;
        crate::store::schema::users::id
            .eq(account.to_string())
            .or(crate::store::schema::users::account_id.eq(account.to_string()))
    }};
}

/// The ids of the users of an account, as a subquery: its sessions and links are those of all memberships.
macro_rules! users_of {
    ($account:expr) => {
        crate::store::schema::users::table
            .filter(crate::store::memberships::of_account!($account))
            .select(crate::store::schema::users::id)
    };
}
pub(super) use {of_account, users_of};

/// The account of a user: mostly the user's own row. `None` if there is no such user.
pub(crate) async fn account_of(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
) -> Result<Option<UserKey>, StoreError> {
    let row: Option<(Option<String>, Option<String>)> = users::table
        .find(user.to_string())
        .filter(users::business_id.eq(business.to_string()))
        .select((users::account_id, users::account_business_id))
        .first(conn)
        .await
        .optional()?;
    row.map(|columns| read_account((business, user), columns)).transpose()
}

/// The account of a user with these columns.
pub(super) fn read_account(
    own: UserKey,
    (account, business): (Option<String>, Option<String>),
) -> Result<UserKey, StoreError> {
    match account.zip(business) {
        None => Ok(own),
        Some((account, business)) => Ok((
            stored("users.account_business_id", &business)?,
            stored::<UserId>("users.account_id", &account)?,
        )),
    }
}

/// All memberships, by the name of their business.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    account: UserKey,
) -> Result<Vec<Membership>, StoreError> {
    let rows: Vec<(MembershipRow, (String, String))> = users::table
        .inner_join(businesses::table)
        .filter(of_account!(account))
        .order((businesses::name, users::id))
        .select((MembershipRow::as_select(), (businesses::name, businesses::status)))
        .load(conn)
        .await?;
    rows.into_iter().map(read).collect()
}

/// The membership in this business.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    account: UserKey,
    business: BusinessId,
) -> Result<Option<Membership>, StoreError> {
    let found = list(conn, account).await?;
    Ok(found.into_iter().find(|membership| membership.business == business))
}

/// Locks the memberships until the transaction ends, so that none is removed before its session is open. The one that was used
/// last comes first.
pub(crate) async fn lock_by_use(
    conn: &mut AsyncPgConnection,
    account: UserKey,
) -> Result<Vec<Membership>, StoreError> {
    let users: Vec<String> = users::table
        .filter(of_account!(account))
        .order((users::last_seen_at.desc().nulls_last(), users::id.desc()))
        .select(users::id)
        .for_no_key_update()
        .load(conn)
        .await?;
    let mut found = list(conn, account).await?;
    found.sort_by_key(|one| users.iter().position(|user| *user == one.user.to_string()));
    Ok(found)
}

fn read((row, (business_name, status)): (MembershipRow, (String, String))) -> Result<Membership, StoreError> {
    Ok(Membership {
        business: stored("users.business_id", &row.business_id)?,
        business_name,
        status: stored("businesses.status", &status)?,
        user: stored("users.id", &row.id)?,
        role: stored("users.role", &row.role)?,
    })
}
