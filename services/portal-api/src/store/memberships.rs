//! The businesses of a person. These queries search all businesses, because an account belongs to none of them.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, BusinessId, UserId};
use identity::stored;
use postgres::StoreError;

use crate::domain::{Membership, Role, UserKey};
use crate::store::businesses::{IS_CLOSED, IS_CLOSING};
use crate::store::schema::{businesses, memberships};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

pub(crate) struct NewMembership {
    pub(crate) user: UserId,
    pub(crate) business: BusinessId,
    pub(crate) account: AccountId,
    pub(crate) role: Role,
    pub(crate) created_at: DateTime<Utc>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = memberships)]
struct MembershipRow {
    id: String,
    business_id: String,
    role: String,
}

/// The name and status of a business, [`IS_CLOSING`] and [`IS_CLOSED`].
type OfBusiness = (String, String, bool, bool);

pub(crate) async fn insert(conn: &mut AsyncPgConnection, new: &NewMembership) -> Result<(), StoreError> {
    diesel::insert_into(memberships::table)
        .values((
            memberships::id.eq(new.user.to_string()),
            memberships::business_id.eq(new.business.to_string()),
            memberships::account_id.eq(new.account.to_string()),
            memberships::role.eq(new.role.as_str()),
            memberships::created_at.eq(new.created_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The account of a user. `None` if there is no such user.
pub(crate) async fn account_of(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
) -> Result<Option<AccountId>, StoreError> {
    let row: Option<String> = memberships::table
        .find(user.to_string())
        .filter(memberships::business_id.eq(business.to_string()))
        .select(memberships::account_id)
        .first(conn)
        .await
        .optional()?;
    row.map(|account| stored("memberships.account_id", &account)).transpose()
}

/// All memberships, by the name of their business.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<Vec<Membership>, StoreError> {
    let rows: Vec<(MembershipRow, OfBusiness)> = memberships::table
        .inner_join(businesses::table)
        .filter(memberships::account_id.eq(account.to_string()))
        .order((businesses::name, memberships::id))
        .select((
            MembershipRow::as_select(),
            (businesses::name, businesses::status, sql::<Bool>(IS_CLOSING), sql::<Bool>(IS_CLOSED)),
        ))
        .load(conn)
        .await?;
    rows.into_iter().map(read).collect()
}

/// The membership in this business.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    account: AccountId,
    business: BusinessId,
) -> Result<Option<Membership>, StoreError> {
    let found = list(conn, account).await?;
    Ok(found.into_iter().find(|membership| membership.business == business))
}

/// Locks the memberships until the transaction ends, so that none is removed before its session is open. The one that was used
/// last comes first.
pub(crate) async fn lock_by_use(
    conn: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<Vec<Membership>, StoreError> {
    let users: Vec<String> = memberships::table
        .filter(memberships::account_id.eq(account.to_string()))
        .order((memberships::last_seen_at.desc().nulls_last(), memberships::id.desc()))
        .select(memberships::id)
        .for_no_key_update()
        .load(conn)
        .await?;
    let mut found = list(conn, account).await?;
    found.sort_by_key(|one| users.iter().position(|user| *user == one.user.to_string()));
    Ok(found)
}

/// Records when a user was last seen.
pub(crate) async fn set_seen(
    conn: &mut AsyncPgConnection,
    (business, user): UserKey,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let user =
        memberships::table.find(user.to_string()).filter(memberships::business_id.eq(business.to_string()));
    diesel::update(user).set(memberships::last_seen_at.eq(at)).execute(conn).await?;
    Ok(())
}

fn read(
    (row, (business_name, status, closing, closed)): (MembershipRow, OfBusiness),
) -> Result<Membership, StoreError> {
    Ok(Membership {
        business: stored("memberships.business_id", &row.business_id)?,
        business_name,
        status: stored("businesses.status", &status)?,
        closing,
        closed,
        user: stored("memberships.id", &row.id)?,
        role: stored("memberships.role", &row.role)?,
    })
}
