//! Who people are at identity providers: the operator's, or that of a business.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{AccountId, BusinessId, StaffId};
use postgres::StoreError;

use super::{SsoIdentity, SsoSubject};
use crate::accounts::Account;
use crate::schema::identities;
use crate::stored;

macro_rules! of_provider {
    ($provider:expr) => {
        identities::table.filter(
            identities::business_id
                .is_not_distinct_from($provider.business().map(|business| business.to_string())),
        )
    };
}

macro_rules! identity {
    ($provider:expr, $identity:expr) => {
        of_provider!($provider)
            .filter(identities::issuer.eq(&$identity.issuer))
            .filter(identities::subject.eq(&$identity.subject))
    };
}

/// The person of the staff with this identity at the operator's provider.
pub async fn find_staff(
    conn: &mut AsyncPgConnection,
    identity: &SsoIdentity,
) -> Result<Option<StaffId>, StoreError> {
    let found = identity!(SsoSubject::Staff, identity).select(identities::account_id);
    let row: Option<String> = found.first(conn).await.optional()?;
    row.map(|id| stored("identities.account_id", &id)).transpose()
}

/// Whether the person of the staff has an identity of this issuer.
pub async fn is_linked(
    conn: &mut AsyncPgConnection,
    person: StaffId,
    issuer: &str,
) -> Result<bool, StoreError> {
    let own = of_provider!(SsoSubject::Staff)
        .filter(identities::account_id.eq(person.to_string()))
        .filter(identities::issuer.eq(issuer));
    Ok(diesel::select(diesel::dsl::exists(own)).get_result(conn).await?)
}

/// False if the identity belongs to somebody already, or the person has another one of this issuer.
pub async fn insert(
    conn: &mut AsyncPgConnection,
    provider: SsoSubject,
    identity: &SsoIdentity,
    account: Account,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(identities::table)
        .values((
            identities::business_id.eq(provider.business().map(|business| business.to_string())),
            identities::issuer.eq(&identity.issuer),
            identities::subject.eq(&identity.subject),
            identities::account_id.eq(account.id()),
            identities::realm.eq(account.realm().as_str()),
            identities::created_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// Records since when the groups of the identity give no role; `None` if they give one.
pub async fn set_role_lost(
    conn: &mut AsyncPgConnection,
    identity: &SsoIdentity,
    since: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let row = identity!(SsoSubject::Staff, identity);
    diesel::update(row).set(identities::role_lost_at.eq(since)).execute(conn).await?;
    Ok(())
}

/// False if there is none, or the other account has one of the same issuer.
pub async fn move_all(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (from, to): (AccountId, AccountId),
) -> Result<bool, StoreError> {
    let of = |account: AccountId| {
        identities::table
            .filter(identities::business_id.eq(business.to_string()))
            .filter(identities::account_id.eq(account.to_string()))
    };
    let issuers: Vec<String> = of(to).select(identities::issuer).load(conn).await?;
    let moved = diesel::update(of(from).filter(identities::issuer.ne_all(issuers)))
        .set(identities::account_id.eq(to.to_string()))
        .execute(conn)
        .await?;
    Ok(moved > 0)
}

/// Removes the identities of all users at the provider of a business.
pub async fn remove_of_business(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<(), StoreError> {
    let own = identities::table.filter(identities::business_id.eq(business.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Removes the identities of a person of the staff at all providers.
pub async fn remove_of_staff(conn: &mut AsyncPgConnection, person: StaffId) -> Result<(), StoreError> {
    let own = of_provider!(SsoSubject::Staff).filter(identities::account_id.eq(person.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}
