//! The payment of stored orders. The wallet decides each attempt once, so a debit or a void may be sent repeatedly.

use std::time::Duration;

use domain::Paise;
use internal_api::CallError;
use internal_api::wallet::{DebitAnswer, DebitOutcome, DebitRequest};
use postgres::StoreError;
use tokio::time::Instant;

use crate::domain::ExistingOrder;
use crate::state::State;
use crate::store::placement;

/// Between two calls of an unreachable wallet.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settlement {
    /// The debit is posted, and the order is placed.
    Placed,
    /// The balance is too low. The order is released. What the business owes, a top-up pays first.
    Rejected { balance: Paise, owed: Paise },
    /// The debit can never be posted. The order is released.
    Voided,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SettlementError {
    #[error("the wallet did not answer in time")]
    OutcomeUnknown,
    #[error(transparent)]
    Wallet(CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug)]
enum WalletCall {
    Debit,
    Void,
}

/// Debits the fee of this attempt and settles the order.
pub(super) async fn debit(
    state: &State,
    order: &ExistingOrder,
    deadline: Instant,
) -> Result<Settlement, SettlementError> {
    let answer = call_until(state, order, WalletCall::Debit, deadline).await?;
    Ok(settle(state, order, &answer).await?)
}

/// Voids this attempt and settles the order. Afterwards the order is either placed (the debit had posted) or can never
/// be charged for this attempt.
pub(super) async fn void(
    state: &State,
    order: &ExistingOrder,
    deadline: Instant,
) -> Result<Settlement, SettlementError> {
    let answer = call_until(state, order, WalletCall::Void, deadline).await?;
    Ok(settle(state, order, &answer).await?)
}

/// Places a paid order, or releases the reference and key of an unpaid one.
pub(super) async fn settle(
    state: &State,
    order: &ExistingOrder,
    answer: &DebitAnswer,
) -> Result<Settlement, StoreError> {
    match answer.outcome {
        DebitOutcome::Posted => {
            state.order_writer.place(order).await?;
            Ok(Settlement::Placed)
        }
        DebitOutcome::Rejected => {
            release(state, order).await?;
            Ok(Settlement::Rejected { balance: answer.balance_paise, owed: answer.owed_paise })
        }
        DebitOutcome::Voided => {
            release(state, order).await?;
            Ok(Settlement::Voided)
        }
    }
}

async fn release(state: &State, order: &ExistingOrder) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let release = async |conn: &mut _| placement::release(conn, order, now).await;
    // False: another request released the order or took it over. Nothing is left to do.
    let _released = state.unit.database.transaction(release).await?;
    Ok(())
}

pub(super) async fn call_void(state: &State, order: &ExistingOrder) -> Result<DebitAnswer, CallError> {
    call(state, order, WalletCall::Void).await
}

async fn call(state: &State, order: &ExistingOrder, call: WalletCall) -> Result<DebitAnswer, CallError> {
    let request = DebitRequest { business_id: order.business_id, amount_paise: order.delivery_fee };
    match call {
        WalletCall::Debit => state.wallet.debit(order.order_id, order.attempt, &request).await,
        WalletCall::Void => state.wallet.void(order.order_id, order.attempt, &request).await,
    }
}

/// Repeats the call until the wallet answers.
async fn call_until(
    state: &State,
    order: &ExistingOrder,
    wallet_call: WalletCall,
    deadline: Instant,
) -> Result<DebitAnswer, SettlementError> {
    loop {
        match tokio::time::timeout_at(deadline, call(state, order, wallet_call)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(refused @ CallError::Refused { .. })) => return Err(SettlementError::Wallet(refused)),
            Ok(Err(CallError::Unavailable { reason, .. })) => {
                tracing::warn!(order_id = %order.order_id, reason, "wallet call failed; retrying");
            }
            Err(_) => return Err(SettlementError::OutcomeUnknown),
        }
        if Instant::now() + RETRY_PAUSE >= deadline {
            return Err(SettlementError::OutcomeUnknown);
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}
