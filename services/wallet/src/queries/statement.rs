//! The statement of a wallet.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId};
use postgres::StoreError;

use super::one_more;
use crate::domain::LineKind;
use crate::state::State;
use crate::store;

pub(crate) use crate::store::statement::{Cursor, Deposit, LineFilter, StatementLine};
pub(crate) use crate::store::statement_totals::StatementTotals;

/// Matching lines of a wallet or of one order after a line, newest first: up to `limit`, and one more if there are more.
/// `None` if that line does not exist.
///
/// # Errors
/// When the database fails.
pub(crate) async fn page(
    state: &State,
    business: BusinessId,
    order: Option<OrderId>,
    filter: &LineFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Option<Vec<StatementLine>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let before = match after {
                None => None,
                Some(cursor) => match store::statement::position_of(conn, business, cursor).await? {
                    None => return Ok(None),
                    found => found,
                },
            };
            let mut lines = match order {
                None => store::statement::page(conn, business, filter, before, one_more(limit)).await?,
                // At most twenty lines, found by the order: no page of the statement has to be read.
                Some(order) => {
                    let mut lines = store::statement::of_order(conn, business, order).await?;
                    lines.reverse();
                    lines.retain(|line| filter.matches(line));
                    lines.retain(|line| before.is_none_or(|before| line.position < before));
                    lines.truncate(limit.saturating_add(1));
                    lines
                }
            };
            store::statement::complete(conn, business, &mut lines).await?;
            Ok(Some(lines))
        })
        .await
}

/// The balances before and after a period, and what moved in between: in all, or of one kind.
///
/// # Errors
/// When the database fails.
pub(crate) async fn totals(
    state: &State,
    business: BusinessId,
    period: (DateTime<Utc>, DateTime<Utc>),
    kind: Option<LineKind>,
) -> Result<StatementTotals, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::statement_totals::of_period(conn, business, period, kind).await).await
}

/// The fee, the fees of further attempts with what is owed of them, and the refund of an order, oldest first.
///
/// # Errors
/// When the database fails.
pub(crate) async fn of_order(
    state: &State,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let mut lines = store::statement::of_order(conn, business, order).await?;
            store::statement::complete(conn, business, &mut lines).await?;
            Ok(lines)
        })
        .await
}
