//! Advisory locks, for work that one instance does at a time.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::{StoreError, statement};

#[derive(QueryableByName)]
struct LockRow {
    #[diesel(sql_type = Bool)]
    is_locked: bool,
}

/// Takes a lock until the transaction ends. False when another one has it.
///
/// # Errors
/// When the database fails.
pub async fn try_lock(conn: &mut AsyncPgConnection, lock: i64) -> Result<bool, StoreError> {
    let row: LockRow = statement("SELECT pg_try_advisory_xact_lock($1) AS is_locked")
        .bind::<BigInt, _>(lock)
        .get_result(conn)
        .await?;
    Ok(row.is_locked)
}
