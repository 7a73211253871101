//! The statement of a wallet.

use domain::{BusinessId, OrderId};
use postgres::StoreError;

use super::one_more;
use crate::state::State;
use crate::store;

pub(crate) use crate::store::statement::{LineFilter, StatementLine};

/// Matching lines of a wallet or of one order, newest first: up to `limit`, and one more if there are more. `None` if the
/// filter names a line that does not exist.
///
/// # Errors
/// When the database fails.
pub(crate) async fn page(
    state: &State,
    business: BusinessId,
    order: Option<OrderId>,
    filter: &LineFilter,
    limit: usize,
) -> Result<Option<Vec<StatementLine>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(sequence) = filter.before
                && !store::statement::exists(conn, business, sequence).await?
            {
                return Ok(None);
            }
            let Some(order) = order else {
                return store::statement::page(conn, business, filter, one_more(limit)).await.map(Some);
            };
            // At most two lines, found by the order: no page of the statement has to be read.
            let mut lines = store::statement::of_order(conn, business, order).await?;
            lines.reverse();
            lines.retain(|line| filter.matches(line));
            lines.truncate(limit.saturating_add(1));
            Ok(Some(lines))
        })
        .await
}

/// The fee and the refund of an order, oldest first.
///
/// # Errors
/// When the database fails.
pub(crate) async fn of_order(
    state: &State,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::statement::of_order(conn, business, order).await).await
}
