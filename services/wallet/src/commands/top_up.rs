//! Topping up a wallet through the payment provider: write down what is wanted, let the provider collect it, credit it
//! once it is confirmed. A crash in between leaves a pending top-up and no money, never money twice.

use domain::{BusinessId, Paise, TopUpId};
use postgres::StoreError;

use super::pay_in::{PayInError, post_funds};
use crate::app::State;
use crate::domain::PostingError;
use crate::payments::Collection;
use crate::store;
use crate::store::top_ups::{Status, TopUp};
use crate::store::transfers::Cause;

/// Why a wallet was not topped up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopUpError {
    #[error(transparent)]
    Posting(PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PayInError> for TopUpError {
    fn from(error: PayInError) -> Self {
        match error {
            PayInError::Posting(error) => Self::Posting(error),
            PayInError::Store(error) => Self::Store(error),
        }
    }
}

impl From<diesel::result::Error> for TopUpError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Asks the configured provider for `amount`; brings the top-up and the balance as they are then.
///
/// # Errors
/// When the wallet cannot hold that much.
pub(crate) async fn top_up(
    state: &State,
    business: BusinessId,
    amount: Paise,
) -> Result<(TopUp, Paise), TopUpError> {
    let wanted = TopUp {
        id: TopUpId::generate(&state.clock, &state.entropy),
        business,
        provider: state.provider,
        amount,
        status: Status::Pending,
        created_at: state.clock.now(),
    };
    state.database.transaction(async |conn| store::top_ups::insert(conn, &wanted).await).await?;
    match wanted.provider.collect(wanted.id, amount).await {
        Collection::Confirmed => confirm(state, business, wanted.id).await,
    }
}

/// Credits a top-up whose money is there; once, however often it is confirmed.
async fn confirm(state: &State, business: BusinessId, id: TopUpId) -> Result<(TopUp, Paise), TopUpError> {
    let confirmed = state
        .database
        .transaction(async |conn| {
            let record = store::wallets::lock_or_create(conn, business, state.clock.now()).await?;
            let top_up = store::top_ups::lock(conn, business, id).await?;
            let top_up = top_up.ok_or_else(|| StoreError::Corrupt(format!("{id} is not there")))?;
            if top_up.status != Status::Pending {
                return Ok::<_, TopUpError>((top_up, record.wallet.balance));
            }
            let cause = Cause::TopUp { reference: id.to_string() };
            let (transfer, entry) = post_funds(conn, state, &record, top_up.amount, cause).await?;
            store::top_ups::succeed(conn, &top_up, transfer, state.clock.now()).await?;
            Ok((TopUp { status: Status::Succeeded, ..top_up }, entry.balance_after))
        })
        .await?;
    state.doorbell.ring();
    Ok(confirmed)
}
