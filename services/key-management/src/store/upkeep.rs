//! What is done for the keys of all businesses at once.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::ApiKeyId;
use postgres::StoreError;

use super::row::KeyRow;
use super::schema::api_keys;
use crate::domain::Key;

/// Revokes at most `max` keys whose grace has ended, and gives them. A key that another instance is revoking is left to it.
pub(crate) async fn take_ended_graces(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<Vec<Key>, StoreError> {
    let ended: Vec<String> = api_keys::table
        .filter(api_keys::revoked_at.is_null())
        .filter(api_keys::expires_at.le(now))
        .select(api_keys::id)
        .order(api_keys::expires_at)
        .limit(max)
        .for_update()
        .skip_locked()
        .load(conn)
        .await?;
    if ended.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<KeyRow> = diesel::update(api_keys::table)
        .filter(api_keys::id.eq_any(ended))
        .set(api_keys::revoked_at.eq(api_keys::expires_at))
        .returning(KeyRow::as_returning())
        .get_results(conn)
        .await?;
    rows.into_iter().map(Key::try_from).collect()
}

/// Notes when keys were last used; an older time never replaces a newer one. `uses` are sorted by id, so that instances
/// noting the same keys wait for each other instead of deadlocking.
pub(crate) async fn note_uses(
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
