//! Refunds the fee of an order, once, if the delivery ended before a driver had the parcel (SPECIFICATION §12.2).
//! The refund reverses the order's posted debit.

use domain::{BusinessId, EventId, OrderId};
use postgres::StoreError;

use super::posting::add;
use crate::domain::PostingError;
use crate::state::State;
use crate::store;
use crate::store::transfers::Cause;

/// The name of this consumer in the inbox.
const CONSUMER: &str = "wallet.refunds";

#[derive(Debug, thiserror::Error)]
pub(crate) enum RefundError {
    #[error("this business paid no fee for this order, so there is nothing to refund")]
    NothingTaken,
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refunded {
    Now,
    /// By this event or by another one of the same order.
    Before,
}

/// Refunds the amount of the order's debit, whatever amount the event has.
///
/// # Errors
/// When the order has no posted debit, or the database fails.
pub(crate) async fn refund(
    state: &State,
    event: EventId,
    business: BusinessId,
    order: OrderId,
) -> Result<Refunded, RefundError> {
    state
        .unit
        .database
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            if !outbox::first_time(conn, CONSUMER, event, now).await? {
                return Ok(Refunded::Before);
            }
            // Locks the wallet first, so that a second event of the order sees the refund of the first one.
            let mut record =
                store::wallets::lock(conn, &[business]).await?.pop().ok_or(RefundError::NothingTaken)?;
            let debit = store::debits::posted(conn, business, order).await?;
            let (reverses, amount) = debit.ok_or(RefundError::NothingTaken)?;
            if store::transfers::find_refund(conn, business, order).await?.is_some() {
                return Ok(Refunded::Before);
            }
            let cause = Cause::Refund { order, reverses };
            add::<RefundError>(conn, &state.unit, &mut record, amount, cause).await?;
            Ok(Refunded::Now)
        })
        .await
}
