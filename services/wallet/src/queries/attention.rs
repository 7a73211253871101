//! What needs the operator's attention, of all businesses.

use domain::BusinessId;
use postgres::StoreError;

use crate::state::State;
use crate::store::{attention, cash_differences};

pub(crate) use crate::store::attention::{LateCash, LowBalance};

pub(crate) struct Attention {
    pub(crate) low_balances: Vec<LowBalance>,
    pub(crate) late_cash: Vec<LateCash>,
    /// The orders with an open difference.
    pub(crate) open_discrepancies: i64,
}

/// Low balances and late cash: of each up to `limit` businesses, the worst first. Counts discrepancies up to `counted_max`. A
/// `closed` business tops nothing up, so its balance is not low.
///
/// # Errors
/// When the database fails.
pub(crate) async fn attention(
    state: &State,
    closed: &[BusinessId],
    limit: i64,
    counted_max: i64,
) -> Result<Attention, StoreError> {
    let late_before = state.cash_terms.late_before(state.unit.clock.now());
    let database = &state.unit.database;
    database
        .read(async |conn| {
            Ok(Attention {
                low_balances: attention::low_balances(conn, state.default_threshold, closed, limit).await?,
                late_cash: attention::late_cash(conn, late_before, limit).await?,
                open_discrepancies: cash_differences::count_open(conn, counted_max).await?,
            })
        })
        .await
}
