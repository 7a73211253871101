//! Links that set the password of a person of the staff, stored by the digest of their token.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::StaffId;
use postgres::StoreError;

use super::schema::staff_links;
use super::{staff, stored};
use crate::domain::{LinkToken, Staff};

/// Inserts the link, and deletes the person's older one.
pub(crate) async fn replace(
    conn: &mut AsyncPgConnection,
    (of, created_by): (StaffId, Option<StaffId>),
    token: &LinkToken,
    (now, expires_at): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    remove_of(conn, of).await?;
    diesel::insert_into(staff_links::table)
        .values((
            staff_links::token_hash.eq(token.digest().to_vec()),
            staff_links::staff_id.eq(of.to_string()),
            staff_links::created_by.eq(created_by.map(|id| id.to_string())),
            staff_links::created_at.eq(now),
            staff_links::expires_at.eq(expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The person whose password the link sets, unless it has expired.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<Staff>, StoreError> {
    let found = staff_links::table
        .find(token.digest().to_vec())
        .filter(staff_links::expires_at.gt(now))
        .select(staff_links::staff_id);
    let id: Option<String> = found.first(conn).await.optional()?;
    match id {
        Some(id) => staff::find(conn, stored("staff_links.staff_id", &id)?).await,
        None => Ok(None),
    }
}

/// Consumes a link. False if it is already used or replaced.
pub(crate) async fn consume(conn: &mut AsyncPgConnection, token: &LinkToken) -> Result<bool, StoreError> {
    let link = staff_links::table.find(token.digest().to_vec());
    Ok(diesel::delete(link).execute(conn).await? == 1)
}

/// Deletes the open link of a person.
pub(crate) async fn remove_of(conn: &mut AsyncPgConnection, of: StaffId) -> Result<(), StoreError> {
    let own = staff_links::table.filter(staff_links::staff_id.eq(of.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}

/// Deletes the open links that this person created.
pub(crate) async fn remove_created_by(
    conn: &mut AsyncPgConnection,
    creator: StaffId,
) -> Result<(), StoreError> {
    let created = staff_links::table.filter(staff_links::created_by.eq(creator.to_string()));
    diesel::delete(created).execute(conn).await?;
    Ok(())
}

/// Deletes at most `max` expired links, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, staff_links::token_hash: Vec<u8>, staff_links::expires_at.le(now))
}
