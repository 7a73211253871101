//! Credits that the operator grants manually, once per reference.

use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::posting::post_deposit;
use crate::domain::PostingError;
use crate::state::State;
use crate::store;
use crate::store::transfers::{Cause, Credit};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreditError {
    #[error("a credit with this reference has another amount")]
    ReferenceReused,
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Credits `amount`, or returns the credit that already has this reference.
///
/// # Errors
/// When the reference belongs to another amount, the amount exceeds the maximum balance, or the database fails.
pub(crate) async fn credit(
    state: &State,
    business: BusinessId,
    amount: Paise,
    reference: String,
) -> Result<Credit, CreditError> {
    state
        .unit
        .transaction(async |conn| {
            let record = store::wallets::lock_or_create(conn, business, state.unit.clock.now()).await?;
            if let Some(before) = store::transfers::find_credit(conn, business, &reference).await? {
                return if before.amount == amount { Ok(before) } else { Err(CreditError::ReferenceReused) };
            }
            let cause = Cause::OperatorCredit { reference: reference.clone() };
            let (id, entry) = post_deposit::<CreditError>(conn, &state.unit, &record, amount, cause).await?;
            Ok(Credit { id, amount, balance_after: entry.balance_after })
        })
        .await
}
