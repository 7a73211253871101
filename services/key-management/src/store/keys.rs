//! The keys of a business.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{ApiKeyId, BusinessId, Mode, UserId};
use postgres::StoreError;

use super::row::{KeyRow, NewKeyRow, corrupt};
use super::schema::api_keys;
use crate::domain::{Key, KeyHash};

/// Serialises transactions that count and add keys of this business.
pub(crate) async fn lock_business(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<(), StoreError> {
    diesel::sql_query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind::<diesel::sql_types::Text, _>(business.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// The number of working keys of a mode, including keys in their grace period.
pub(crate) async fn count_working(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Mode,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    Ok(api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::mode.eq(mode.as_str()))
        .filter(works_at(now))
        .count()
        .get_result(conn)
        .await?)
}

/// The modes in which the business has a working key.
pub(crate) async fn working_modes(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<Vec<Mode>, StoreError> {
    let modes: Vec<String> = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(works_at(now))
        .select(api_keys::mode)
        .distinct()
        .load(conn)
        .await?;
    modes.iter().map(|mode| mode.parse().map_err(corrupt)).collect()
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    key: &Key,
    hash: &KeyHash,
) -> Result<(), StoreError> {
    diesel::insert_into(api_keys::table).values(NewKeyRow::new(key, hash)).execute(conn).await?;
    Ok(())
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ApiKeyId,
) -> Result<Option<Key>, StoreError> {
    let row = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::id.eq(id.to_string()))
        .select(KeyRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Key::try_from).transpose()
}

/// As [`find`], and locks the key until the transaction ends.
pub(crate) async fn find_for_update(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ApiKeyId,
) -> Result<Option<Key>, StoreError> {
    let row = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::id.eq(id.to_string()))
        .select(KeyRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Key::try_from).transpose()
}

/// The key with this hash. Has no business filter, because the caller asks which business the key belongs to.
pub(crate) async fn find_by_hash(
    conn: &mut AsyncPgConnection,
    hash: &KeyHash,
) -> Result<Option<Key>, StoreError> {
    let row = api_keys::table
        .filter(api_keys::key_hash.eq(hash.as_slice()))
        .select(KeyRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Key::try_from).transpose()
}

/// Businesses with an unrevoked key, ordered by id, after this one. Reads all businesses.
pub(crate) async fn businesses(
    conn: &mut AsyncPgConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = api_keys::table
        .filter(api_keys::business_id.gt(after))
        .filter(api_keys::revoked_at.is_null())
        .select(api_keys::business_id)
        .distinct()
        .order(api_keys::business_id)
        .limit(limit)
        .load(conn)
        .await?;
    ids.iter().map(|id| id.parse().map_err(corrupt)).collect()
}

/// At most `limit` keys older than `after`, of one creator or of all, newest first.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    created_by: Option<UserId>,
    after: Option<&Key>,
    limit: i64,
) -> Result<Vec<Key>, StoreError> {
    let mut query = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .select(KeyRow::as_select())
        .order((api_keys::created_at.desc(), api_keys::id.desc()))
        .limit(limit)
        .into_boxed();
    if let Some(user) = created_by {
        query = query.filter(api_keys::created_by.eq(user.to_string()));
    }
    if let Some(after) = after {
        let same_moment =
            api_keys::created_at.eq(after.created_at).and(api_keys::id.lt(after.id.to_string()));
        query = query.filter(api_keys::created_at.lt(after.created_at).or(same_moment));
    }
    query.load(conn).await?.into_iter().map(Key::try_from).collect()
}

/// Those of these keys that another key replaces.
pub(crate) async fn rotated_among(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    keys: &[ApiKeyId],
) -> Result<HashSet<ApiKeyId>, StoreError> {
    let rotated: Vec<Option<String>> = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::rotated_from.eq_any(keys.iter().map(ToString::to_string)))
        .select(api_keys::rotated_from)
        .load(conn)
        .await?;
    rotated.iter().flatten().map(|id| id.parse().map_err(corrupt)).collect()
}

/// Requires that this transaction has found the key unrevoked.
pub(crate) async fn set_revoked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ApiKeyId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::update(api_keys::table)
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::id.eq(id.to_string()))
        .filter(api_keys::revoked_at.is_null())
        .set(api_keys::revoked_at.eq(at))
        .execute(conn)
        .await?;
    one(changed)
}

/// Begins the grace period. Requires that this transaction has found the key working and not rotated.
pub(crate) async fn set_expiry(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: ApiKeyId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::update(api_keys::table)
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::id.eq(id.to_string()))
        .filter(api_keys::revoked_at.is_null())
        .set(api_keys::expires_at.eq(at))
        .execute(conn)
        .await?;
    one(changed)
}

/// Whether the business has a key that is not revoked, working or not.
pub(crate) async fn has_unrevoked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<bool, StoreError> {
    let unrevoked = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::revoked_at.is_null());
    Ok(diesel::select(diesel::dsl::exists(unrevoked)).get_result(conn).await?)
}

/// Replaces the names of at most `max` keys, and removes their networks. Returns the number of these keys.
pub(crate) async fn erase_names(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    name: &str,
    max: u16,
) -> Result<usize, StoreError> {
    let named: Vec<String> = api_keys::table
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::name.ne(name).or(api_keys::ip_allow_list.is_not_null()))
        .select(api_keys::id)
        .order(api_keys::id)
        .limit(i64::from(max))
        .load(conn)
        .await?;
    Ok(diesel::update(api_keys::table)
        .filter(api_keys::business_id.eq(business.to_string()))
        .filter(api_keys::id.eq_any(named))
        .set((api_keys::name.eq(name), api_keys::ip_allow_list.eq(None::<Vec<String>>)))
        .execute(conn)
        .await?)
}

fn one(changed: usize) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(corrupt(format!("{changed} rows changed instead of one"))) }
}

/// The same rule as `Key::works_at`.
#[diesel::dsl::auto_type(no_type_alias)]
fn works_at(now: DateTime<Utc>) -> _ {
    let in_time = api_keys::expires_at.is_null().or(api_keys::expires_at.gt(now));
    api_keys::revoked_at.is_null().and(in_time)
}
