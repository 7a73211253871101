//! Who the persons of the staff are at identity providers.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::StoreError;

use super::schema::staff_identities;
use super::stored;
use crate::domain::SsoIdentity;

/// The person with this identity.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    identity: &SsoIdentity,
) -> Result<Option<StaffId>, StoreError> {
    let row: Option<String> = staff_identities::table
        .find((&identity.issuer, &identity.subject))
        .select(staff_identities::staff_id)
        .first(conn)
        .await
        .optional()?;
    row.map(|id| stored("staff_identities.staff_id", &id)).transpose()
}

/// Whether the person has an identity of this issuer.
pub(crate) async fn is_linked(
    conn: &mut AsyncPgConnection,
    person: StaffId,
    issuer: &str,
) -> Result<bool, StoreError> {
    let own = staff_identities::table
        .filter(staff_identities::staff_id.eq(person.to_string()))
        .filter(staff_identities::issuer.eq(issuer));
    Ok(diesel::select(diesel::dsl::exists(own)).get_result(conn).await?)
}

/// Records since when the groups of the identity give no role; `None` if they give one.
pub(crate) async fn set_role_lost(
    conn: &mut AsyncPgConnection,
    identity: &SsoIdentity,
    since: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let row = staff_identities::table.find((&identity.issuer, &identity.subject));
    diesel::update(row).set(staff_identities::role_lost_at.eq(since)).execute(conn).await?;
    Ok(())
}

/// Removes the identities of a person at all providers.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, person: StaffId) -> Result<(), StoreError> {
    let own = staff_identities::table.filter(staff_identities::staff_id.eq(person.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// False if the identity belongs to a person already, or the person has another one of this issuer.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    identity: &SsoIdentity,
    person: StaffId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(staff_identities::table)
        .values((
            staff_identities::issuer.eq(&identity.issuer),
            staff_identities::subject.eq(&identity.subject),
            staff_identities::staff_id.eq(person.to_string()),
            staff_identities::created_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}
