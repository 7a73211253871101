//! What needs the operator's attention, of all businesses.

use postgres::StoreError;

use crate::state::State;
use crate::store::attention;

pub(crate) use crate::store::attention::{LateCash, LowBalance};

/// Low balances and late cash: of each up to `limit` businesses, the worst first.
///
/// # Errors
/// When the database fails.
pub(crate) async fn attention(
    state: &State,
    limit: i64,
) -> Result<(Vec<LowBalance>, Vec<LateCash>), StoreError> {
    let late_before = state.cash_terms.late_before(state.unit.clock.now());
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let low = attention::low_balances(conn, state.default_threshold, limit).await?;
            Ok((low, attention::late_cash(conn, late_before, limit).await?))
        })
        .await
}
