//! Users of a business by who they are at its identity provider.

use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Email, UserId};
use identity::single_sign_on::SsoIdentity;
use identity::stored;
use postgres::StoreError;

use crate::store::schema::{accounts, identities, memberships};
use crate::store::users::has_address;
use diesel::prelude::*;

/// The user with this identity at the provider of the business.
pub(crate) async fn find_user(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    identity: &SsoIdentity,
) -> Result<Option<UserId>, StoreError> {
    let user = memberships::account_id
        .eq(identities::account_id)
        .and(memberships::business_id.eq(business.to_string()));
    let row: Option<String> = identities::table
        .filter(identities::business_id.eq(business.to_string()))
        .filter(identities::issuer.eq(&identity.issuer))
        .filter(identities::subject.eq(&identity.subject))
        .inner_join(memberships::table.on(user))
        .select(memberships::id)
        .first(conn)
        .await
        .optional()?;
    row.map(|id| stored("memberships.id", &id)).transpose()
}

/// The oldest user of the business with this address who has no identity of this issuer. An account must have verified the address;
/// a user whom an earlier provider of the business has created is known by nothing else.
pub(crate) async fn find_linkable(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    issuer: &str,
    email: &Email,
) -> Result<Option<UserId>, StoreError> {
    let linked = identities::table
        .filter(identities::business_id.eq(business.to_string()))
        .filter(identities::issuer.eq(issuer.to_owned()))
        .select(identities::account_id);
    let row: Option<String> = memberships::table
        .inner_join(accounts::table)
        .filter(memberships::business_id.eq(business.to_string()))
        .filter(memberships::account_id.ne_all(linked))
        .filter(accounts::email_verified_at.is_not_null().or(accounts::provider_of.is_not_null()))
        .filter(has_address!(email))
        .order((accounts::provider_of.is_not_null(), memberships::id))
        .select(memberships::id)
        .first(conn)
        .await
        .optional()?;
    row.map(|id| stored("memberships.id", &id)).transpose()
}
