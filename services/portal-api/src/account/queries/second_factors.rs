//! Second factors of accounts.

use identity::Account;
use identity::second_factors::{self, FactorStatus};
use postgres::StoreError;

use crate::state::State;

/// The second factor as its owner sees it.
pub(crate) async fn status(state: &State, account: Account) -> Result<FactorStatus, StoreError> {
    state.unit.database.read(async |conn| second_factors::status(conn, account).await).await
}
