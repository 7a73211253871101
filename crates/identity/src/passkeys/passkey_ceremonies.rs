//! Challenges that authenticators have not signed yet. Their state never leaves the service.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;
use serde_json::Value;

use super::CeremonyKey;
use crate::accounts::Account;
use crate::schema::passkey_ceremonies;

/// Begins a ceremony, and ends the one before with the same key.
pub async fn begin(
    conn: &mut AsyncPgConnection,
    key: CeremonyKey,
    account: Account,
    state: &Value,
    expires_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let begun = (
        passkey_ceremonies::account_id.eq(account.id()),
        passkey_ceremonies::realm.eq(account.realm().as_str()),
        passkey_ceremonies::state.eq(state),
        passkey_ceremonies::expires_at.eq(expires_at),
    );
    diesel::insert_into(passkey_ceremonies::table)
        .values((passkey_ceremonies::ceremony_hash.eq(key.digest().to_vec()), begun.clone()))
        .on_conflict(passkey_ceremonies::ceremony_hash)
        .do_update()
        .set(begun)
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends a ceremony, and returns its state. `None` if it has expired or was used, or is one of another account. In one statement,
/// so that of simultaneous answers one is checked.
pub async fn take(
    conn: &mut AsyncPgConnection,
    key: CeremonyKey,
    account: Account,
    now: DateTime<Utc>,
) -> Result<Option<Value>, StoreError> {
    let open = passkey_ceremonies::table
        .filter(passkey_ceremonies::ceremony_hash.eq(key.digest().to_vec()))
        .filter(passkey_ceremonies::account_id.eq(account.id()))
        .filter(passkey_ceremonies::realm.eq(account.realm().as_str()))
        .filter(passkey_ceremonies::expires_at.gt(now));
    let taken = diesel::delete(open).returning(passkey_ceremonies::state);
    Ok(taken.get_result(conn).await.optional()?)
}

/// Deletes at most `max` ceremonies that have expired, and returns how many. Covers all businesses.
pub async fn prune(conn: &mut AsyncPgConnection, now: DateTime<Utc>, max: i64) -> Result<usize, StoreError> {
    prune!(conn, max, passkey_ceremonies::ceremony_hash: Vec<u8>, passkey_ceremonies::expires_at.le(now))
}
