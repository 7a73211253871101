//! What needs the operator's attention, of all businesses.

use chrono::TimeDelta;
use postgres::StoreError;

use crate::state::State;
use crate::store::attention;

pub(crate) use crate::store::attention::{LateCash, LowBalance};

/// As the oldest of the ages of cash.
const LATE_AFTER: TimeDelta = TimeDelta::days(7);

/// Low balances and late cash: of each up to `limit` businesses, the worst first.
///
/// # Errors
/// When the database fails.
pub(crate) async fn attention(
    state: &State,
    limit: i64,
) -> Result<(Vec<LowBalance>, Vec<LateCash>), StoreError> {
    let due_until = state.unit.clock.now() - LATE_AFTER;
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let low = attention::low_balances(conn, state.default_threshold, limit).await?;
            Ok((low, attention::late_cash(conn, due_until, limit).await?))
        })
        .await
}
