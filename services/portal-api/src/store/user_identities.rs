//! Who the users of a business are at its identity provider.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, UserId};
use postgres::StoreError;

use super::schema::{accounts, memberships, user_identities};
use super::stored;
use super::users::has_address;
use crate::domain::{Email, SsoIdentity};

/// The user with this identity.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    identity: &SsoIdentity,
) -> Result<Option<UserId>, StoreError> {
    let row: Option<String> = user_identities::table
        .find((business.to_string(), &identity.issuer, &identity.subject))
        .select(user_identities::user_id)
        .first(conn)
        .await
        .optional()?;
    row.map(|id| stored("user_identities.user_id", &id)).transpose()
}

/// The oldest user of the business with this address who has no identity of this issuer. An account must have verified the address;
/// a user whom an earlier provider of the business has created is known by nothing else.
pub(crate) async fn find_linkable(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    issuer: &str,
    email: &Email,
) -> Result<Option<UserId>, StoreError> {
    let linked = user_identities::table
        .filter(user_identities::business_id.eq(business.to_string()))
        .filter(user_identities::issuer.eq(issuer.to_owned()))
        .select(user_identities::user_id);
    let row: Option<String> = memberships::table
        .inner_join(accounts::table)
        .filter(memberships::business_id.eq(business.to_string()))
        .filter(memberships::id.ne_all(linked))
        .filter(accounts::email_verified_at.is_not_null().or(accounts::provider_of.is_not_null()))
        .filter(has_address!(email))
        .order((accounts::provider_of.is_not_null(), memberships::id))
        .select(memberships::id)
        .first(conn)
        .await
        .optional()?;
    row.map(|id| stored("memberships.id", &id)).transpose()
}

/// False if the identity belongs to a user already, or the user has another one of this issuer.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    (business, user): (BusinessId, UserId),
    identity: &SsoIdentity,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(user_identities::table)
        .values((
            user_identities::business_id.eq(business.to_string()),
            user_identities::issuer.eq(&identity.issuer),
            user_identities::subject.eq(&identity.subject),
            user_identities::user_id.eq(user.to_string()),
            user_identities::created_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// False if there is none, or the other user has one of the same issuer.
pub(crate) async fn move_all(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (from, to): (UserId, UserId),
) -> Result<bool, StoreError> {
    let of = |user: UserId| {
        user_identities::table
            .filter(user_identities::business_id.eq(business.to_string()))
            .filter(user_identities::user_id.eq(user.to_string()))
    };
    let issuers: Vec<String> = of(to).select(user_identities::issuer).load(conn).await?;
    let moved = diesel::update(of(from).filter(user_identities::issuer.ne_all(issuers)))
        .set(user_identities::user_id.eq(to.to_string()))
        .execute(conn)
        .await?;
    Ok(moved > 0)
}

/// Of another provider, or of none.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    let own = user_identities::table.filter(user_identities::business_id.eq(business.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}
