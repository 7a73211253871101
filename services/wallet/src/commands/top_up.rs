//! Topping up a wallet through the payment provider: write down what is wanted, have the provider collect it, credit it
//! once it is confirmed. A crash in between leaves a pending top-up, which [`super::finish_top_ups`] finishes: never
//! money twice, nor money lost.

use domain::{BusinessId, Paise, TopUpId};
use postgres::StoreError;
use strum::VariantArray;

use super::confirm_top_up::confirm;
use super::pay_in::PayInError;
use crate::domain::{NoticeOutcome, PostingError, Status, TopUp, next_check};
use crate::payments::ProviderError;
use crate::state::State;
use crate::store;

/// Why a wallet was not topped up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopUpError {
    #[error("another amount was asked for under this idempotency key")]
    KeyReused,
    #[error(transparent)]
    Provider(#[from] ProviderError),
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

/// What a business wants.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    /// The same key asks for the same top-up, which is then brought as it stands, or driven on.
    pub(crate) idempotency_key: Option<String>,
}

/// Asks the configured provider for the amount; brings the top-up and the balance as they are then.
///
/// # Errors
/// When the key stands for another amount, the provider does not take the top-up on or does not answer, or the wallet
/// cannot hold that much.
pub(crate) async fn top_up(state: &State, wanted: Wanted) -> Result<(TopUp, Paise), TopUpError> {
    let amount = wanted.amount;
    let top_up = write_down(state, wanted).await?;
    if top_up.amount != amount {
        return Err(TopUpError::KeyReused);
    }
    let under_way = top_up.status == Status::Pending && top_up.provider_reference.is_none();
    // What another provider was to collect is not asked of this one.
    if !under_way || top_up.provider != state.provider.name() {
        let balance = balance(state, top_up.business).await?;
        return Ok((top_up, balance));
    }
    let opened = match state.provider.open(&top_up).await {
        Err(ProviderError::Refused(reason)) => {
            abandon(state, &top_up).await?;
            return Err(ProviderError::Refused(reason).into());
        }
        opened => opened?,
    };
    let top_up = match &opened.reference {
        Some(reference) => name(state, &top_up, reference).await?,
        None => top_up,
    };
    match &opened.payment {
        Some(payment) => {
            let confirmed = confirm(state, &top_up, payment).await?;
            Ok((confirmed.top_up, confirmed.balance))
        }
        None => {
            let balance = balance(state, top_up.business).await?;
            Ok((top_up, balance))
        }
    }
}

/// A top-up of this business as it stands, with the balance.
pub(crate) async fn find(
    state: &State,
    business: BusinessId,
    id: TopUpId,
) -> Result<Option<(TopUp, Paise)>, StoreError> {
    let found = state.unit.database.read(async |conn| store::top_ups::find(conn, business, id).await).await?;
    match found {
        Some(top_up) => Ok(Some((top_up, balance(state, business).await?))),
        None => Ok(None),
    }
}

/// The new top-up, or the one that was asked for under the same key before.
async fn write_down(state: &State, wanted: Wanted) -> Result<TopUp, TopUpError> {
    let now = state.unit.clock.now();
    let new = TopUp {
        id: TopUpId::generate(&state.unit.clock, &state.unit.entropy),
        business: wanted.business,
        provider: state.provider.name(),
        provider_reference: None,
        payment_reference: None,
        idempotency_key: wanted.idempotency_key,
        amount: wanted.amount,
        status: Status::Pending,
        created_at: now,
    };
    let first_check = now + next_check(chrono::TimeDelta::zero()).unwrap_or_default();
    state
        .unit
        .database
        .transaction(async |conn| {
            if store::top_ups::insert(conn, &new, first_check).await? {
                return Ok(new.clone());
            }
            let before = match &new.idempotency_key {
                Some(key) => store::top_ups::find_by_key(conn, new.business, key).await?,
                None => None,
            };
            before.ok_or_else(|| StoreError::Unavailable("the key was given up this instant".into()).into())
        })
        .await
}

/// Notes the provider's name for the top-up; brings the top-up with the name that counts.
async fn name(state: &State, top_up: &TopUp, reference: &str) -> Result<TopUp, TopUpError> {
    state
        .unit
        .database
        .transaction(async |conn| {
            store::top_ups::name(conn, top_up, reference).await?;
            let named = store::top_ups::find(conn, top_up.business, top_up.id).await?;
            named.ok_or_else(|| StoreError::Corrupt(format!("{} is not there", top_up.id)).into())
        })
        .await
}

pub(super) async fn abandon(state: &State, top_up: &TopUp) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    state.unit.database.transaction(async |conn| store::top_ups::fail(conn, top_up, now).await).await
}

async fn balance(state: &State, business: BusinessId) -> Result<Paise, StoreError> {
    let record = state.unit.database.read(async |conn| store::wallets::find(conn, business).await).await?;
    Ok(record.map(|record| record.wallet.balance).unwrap_or_default())
}

pub(crate) fn create_counters() {
    for outcome in NoticeOutcome::VARIANTS {
        metrics::counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(0);
    }
}
