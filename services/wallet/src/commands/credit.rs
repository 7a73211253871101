//! Money that the operator gives to a wallet by hand, once for each reference.

use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::pay_in::{PayInError, post_funds};
use crate::domain::PostingError;
use crate::state::State;
use crate::store;
use crate::store::transfers::{Cause, Found};

/// Why a credit was not given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreditError {
    #[error("a credit of another amount has this reference")]
    ReferenceReused,
    #[error(transparent)]
    Posting(PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PayInError> for CreditError {
    fn from(error: PayInError) -> Self {
        match error {
            PayInError::Posting(error) => Self::Posting(error),
            PayInError::Store(error) => Self::Store(error),
        }
    }
}

/// Credits `amount`, or finds that it was credited before under the same reference.
///
/// # Errors
/// When the reference stands for another amount, or the wallet cannot hold that much.
pub(crate) async fn credit(
    state: &State,
    business: BusinessId,
    amount: Paise,
    reference: String,
) -> Result<Found, CreditError> {
    let given = state
        .unit
        .transaction(async |conn| {
            let record = store::wallets::lock_or_create(conn, business, state.unit.clock.now()).await?;
            if let Some(before) = store::transfers::find_credit(conn, business, &reference).await? {
                return if before.amount == amount { Ok(before) } else { Err(CreditError::ReferenceReused) };
            }
            let cause = Cause::OperatorCredit { reference: reference.clone() };
            let (id, entry) = post_funds(conn, state, &record, amount, cause).await?;
            Ok(Found { id, amount, balance_after: entry.balance_after })
        })
        .await?;
    Ok(given)
}
