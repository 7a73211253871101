//! Second factors of accounts.

use postgres::StoreError;

use crate::domain::{Account, FactorStatus};
use crate::state::State;
use crate::store::second_factors;

/// The second factor as its owner sees it.
pub(crate) async fn status(state: &State, account: Account) -> Result<FactorStatus, StoreError> {
    state.unit.database.read(async |conn| second_factors::status(conn, account).await).await
}
