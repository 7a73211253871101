//! Takes the fee of another attempt at a delivery, once, when the attempt begins (SPECIFICATION §12.1). It is an operator's debit
//! with a reference of its own, which every release can read. The business owes what its balance does not cover.

use domain::{BusinessId, EventId, Paise, attempt_fee_reference};
use events::AttemptBegun;
use postgres::StoreError;

use super::posting::{announce, take_or_owe};
use crate::domain::{PostingError, ShortfallKind};
use crate::state::State;
use crate::store;
use crate::store::transfers::Cause;

/// The name of this consumer in the inbox.
const CONSUMER: &str = "wallet.attempt-fees";

#[derive(Debug, thiserror::Error)]
pub(crate) enum AttemptFeeError {
    #[error("the fee is not an amount of a debit")]
    AmountRefused,
    #[error("this business paid no fee for this order, so nobody attempts its delivery")]
    UnknownOrder,
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Now,
    /// By this event or by another one: an attempt begins again after its driver dropped out.
    Before,
}

/// Takes the announced fee.
///
/// # Errors
/// When the business has no such order, or the database fails.
pub(crate) async fn take_attempt_fee(
    state: &State,
    event: EventId,
    business: BusinessId,
    begun: &AttemptBegun,
) -> Result<Taken, AttemptFeeError> {
    let amount = Paise::positive(begun.fee_paise.get()).map_err(|_| AttemptFeeError::AmountRefused)?;
    state
        .unit
        .transaction(async |conn| {
            if !outbox::first_time(conn, CONSUMER, event, state.unit.clock.now()).await? {
                return Ok(Taken::Before);
            }
            // Locks the wallet first, so that a second event of the attempt sees the debit of the first one.
            let locked = store::wallets::lock(conn, &[business]).await?.pop();
            let mut record = locked.ok_or(AttemptFeeError::UnknownOrder)?;
            let order = begun.order_id;
            if store::debits::posted(conn, business, order).await?.is_none() {
                return Err(AttemptFeeError::UnknownOrder);
            }
            let reference = attempt_fee_reference(begun.attempt, order);
            if store::transfers::find_debit(conn, business, &reference).await?.is_some() {
                return Ok(Taken::Before);
            }
            let threshold = record.low_balance_threshold.unwrap_or(state.default_threshold);
            let reason = Some(format!("Fee of attempt {} at order {}", begun.attempt, begun.order_reference));
            let cause = Cause::OperatorDebit { reference: reference.clone(), reverses: None, reason };
            let kind = ShortfallKind::OperatorDebitShortfall;
            let wallet = (&mut record, threshold);
            let about = (reference.as_str(), None);
            let owed =
                take_or_owe::<AttemptFeeError>(conn, &state.unit, wallet, amount, about, (cause, kind))
                    .await?;
            // Like the fee of an order, it was announced: only a debt is news.
            if owed > Paise::ZERO {
                let about = (reference.as_str(), Some(begun.order_reference.as_str()), false);
                announce(conn, &state.unit, &record, amount, about).await?;
            }
            Ok(Taken::Now)
        })
        .await
}
