//! Gives the difference of an order's cash an owner, or closes it with a reason.

use domain::{BusinessId, OrderId};
use postgres::StoreError;

use crate::state::State;
use crate::store;
use crate::store::cash_differences::CashDifference;

#[derive(Debug, thiserror::Error)]
pub(crate) enum AssignError {
    #[error("the business has no such order with cash")]
    Unknown,
    #[error("the amounts of the order agree")]
    NoDifference,
    #[error("the difference is closed")]
    Closed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A closed difference becomes open only on purpose: somebody else may have closed it meanwhile.
///
/// # Errors
/// When the order's cash has no difference, it is closed, or the database fails.
pub(crate) async fn assign_difference(
    state: &State,
    business: BusinessId,
    order: OrderId,
    (difference, reopens): (&CashDifference, bool),
) -> Result<(), AssignError> {
    state
        .unit
        .transaction(async |conn| {
            let cash = store::cash::lock_orders(conn, business, &[order]).await?.pop();
            let is_discrepant = cash.ok_or(AssignError::Unknown)?.discrepant;
            let known = store::cash_differences::of_cash(conn, &[business], &[order]).await?;
            if !is_discrepant && !known.values().any(|known| known.reported.is_some()) {
                return Err(AssignError::NoDifference);
            }
            let is_closed = known.values().any(|known| known.resolution.is_some());
            if is_closed && difference.resolution.is_none() && !reopens {
                return Err(AssignError::Closed);
            }
            let now = state.unit.clock.now();
            Ok(store::cash_differences::assign(conn, business, order, difference, now).await?)
        })
        .await
}
