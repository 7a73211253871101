//! Giving a fee back: the reversal of the order's posted debit, once, when the delivery ended before a driver held the
//! parcel (SPECIFICATION §12, “money on the way out”).

use domain::{BusinessId, EventId, OrderId};
use postgres::StoreError;

use super::pay_in::{PayInError, post};
use crate::domain::PostingError;
use crate::state::State;
use crate::store;
use crate::store::transfers::Cause;

/// The name under which the inbox remembers what this command has seen.
const CONSUMER: &str = "wallet.refunds";

/// Why a refund was not given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefundError {
    #[error("no fee was taken for this order of this business, so there is none to give back")]
    NothingTaken,
    #[error(transparent)]
    Posting(PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PayInError> for RefundError {
    fn from(error: PayInError) -> Self {
        match error {
            PayInError::Posting(error) => Self::Posting(error),
            PayInError::Store(error) => Self::Store(error),
        }
    }
}

/// What came of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refunded {
    Now,
    /// This event, or another one of the same order, was here before.
    Before,
}

/// Gives back what was taken for the order; the amount is the debit's own, whatever the event says.
///
/// # Errors
/// When nothing was taken.
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
            // The wallet's lock comes first, so that of two events of one order the second sees the first's refund.
            let record =
                store::wallets::lock(conn, &[business]).await?.pop().ok_or(RefundError::NothingTaken)?;
            let debit = store::debits::posted(conn, business, order).await?;
            let (reverses, amount) = debit.ok_or(RefundError::NothingTaken)?;
            if store::transfers::find_refund(conn, business, order).await?.is_some() {
                return Ok(Refunded::Before);
            }
            post(conn, state, &record, amount, Cause::Refund { order, reverses }).await?;
            Ok(Refunded::Now)
        })
        .await
}

pub(crate) fn create_counters() {
    metrics::counter!("wallet_refunds_total").increment(0);
}
