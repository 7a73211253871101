//! Passkeys of accounts.

use identity::Account;
use identity::passkeys::{self, Passkey};
use postgres::StoreError;

use crate::state::State;

/// As their owner sees them, the oldest first.
pub(crate) async fn list(state: &State, account: Account) -> Result<Vec<Passkey>, StoreError> {
    state.unit.database.read(async |conn| passkeys::list(conn, account).await).await
}

pub(crate) async fn count(state: &State, account: Account) -> Result<i64, StoreError> {
    state.unit.database.read(async |conn| passkeys::count(conn, account).await).await
}
