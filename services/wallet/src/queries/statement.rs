//! The statement of a wallet.

use domain::{BusinessId, OrderId};
use postgres::StoreError;

use super::one_more;
use crate::domain::{LineFilter, StatementLine};
use crate::state::State;
use crate::store;

/// Up to `limit + 1` lines, newest first. `None` when `filter.before` names no line of this wallet.
pub(crate) async fn page(
    state: &State,
    business: BusinessId,
    order: Option<OrderId>,
    filter: LineFilter,
    limit: usize,
) -> Result<Option<Vec<StatementLine>>, StoreError> {
    let read = async |conn: &mut _| {
        if let Some(sequence) = filter.before
            && !store::statement::exists(conn, business, sequence).await?
        {
            return Ok(None);
        }
        let Some(order) = order else {
            return store::statement::page(conn, business, &filter, one_more(limit)).await.map(Some);
        };
        // An order has two lines at most, so no page needs to be read for them.
        let mut lines = store::statement::of_order(conn, business, order).await?;
        lines.reverse();
        lines.retain(|line| filter.matches(line));
        lines.truncate(limit + 1);
        Ok(Some(lines))
    };
    state.unit.database.read(read).await
}

/// The debit and the refund of an order, oldest first.
pub(crate) async fn of_order(
    state: &State,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    state.unit.database.read(async |conn| store::statement::of_order(conn, business, order).await).await
}
