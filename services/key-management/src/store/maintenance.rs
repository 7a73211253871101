//! Statements for the keys of all businesses.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::ApiKeyId;
use postgres::StoreError;

use super::row::KeyRow;
use super::schema::api_keys;
use crate::domain::Key;

/// Revokes and returns at most `max` keys that have expired. Skips keys that another instance is revoking.
pub(crate) async fn revoke_expired(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<Vec<Key>, StoreError> {
    let expired: Vec<String> = api_keys::table
        .filter(api_keys::revoked_at.is_null())
        .filter(api_keys::expires_at.le(now))
        .select(api_keys::id)
        .order(api_keys::expires_at)
        .limit(max)
        .for_update()
        .skip_locked()
        .load(conn)
        .await?;
    if expired.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<KeyRow> = diesel::update(api_keys::table)
        .filter(api_keys::id.eq_any(expired))
        .set(api_keys::revoked_at.eq(api_keys::expires_at))
        .returning(KeyRow::as_returning())
        .get_results(conn)
        .await?;
    rows.into_iter().map(Key::try_from).collect()
}

/// Writes when keys were last used. An older time never replaces a newer one. Locks rows in the order of their ids, so that
/// instances do not deadlock.
pub(crate) async fn record_usage(
    conn: &mut AsyncPgConnection,
    uses: &[(ApiKeyId, DateTime<Utc>)],
) -> Result<(), StoreError> {
    let ids: Vec<String> = uses.iter().map(|(id, _)| id.to_string()).collect();
    let times: Vec<DateTime<Utc>> = uses.iter().map(|(_, at)| *at).collect();
    diesel::sql_query(
        "WITH uses AS (SELECT * FROM unnest($1, $2) AS used (id, at)),
              held AS (SELECT id FROM api_keys WHERE id IN (SELECT id FROM uses) ORDER BY id FOR UPDATE)
         UPDATE api_keys SET last_used_at = GREATEST(last_used_at, uses.at)
         FROM uses, held WHERE api_keys.id = uses.id AND held.id = uses.id",
    )
    .bind::<Array<Text>, _>(ids)
    .bind::<Array<Timestamptz>, _>(times)
    .execute(conn)
    .await?;
    Ok(())
}
