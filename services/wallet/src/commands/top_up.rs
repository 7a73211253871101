//! Tops up a wallet through the payment provider: stores the request, registers it with the provider, and credits it once it
//! is confirmed. If a crash interrupts this, [`super::check_pending_top_ups`] completes it, so money is never credited twice
//! nor lost.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Paise, TopUpId};
use outbox::Unit;
use postgres::StoreError;

use super::apply_payment::apply_payment;
use crate::domain::{PENDING_MAX, PostingError, Provider, Status, TopUp, next_check};
use crate::payments::ProviderError;
use crate::state::State;
use crate::store;

/// Payment pages are closed by then. A top-up that gives way is credited if the provider reports its payment.
const GIVES_WAY_AFTER: TimeDelta = TimeDelta::hours(1);
/// Longer than the calls of the provider. Without its answer there was no payment page.
const UNREGISTERED_GIVES_WAY_AFTER: TimeDelta = TimeDelta::seconds(15);

#[derive(Debug, thiserror::Error)]
pub(crate) enum TopUpError {
    #[error("the idempotency key belongs to a top-up with another amount")]
    KeyReused,
    #[error("{PENDING_MAX} top-ups of the business wait for their payment")]
    TooManyPending,
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Debug)]
pub(crate) struct TopUpRequest {
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    /// Requests with the same key continue and return the same top-up.
    pub(crate) idempotency_key: Option<String>,
}

/// Requests a top-up. Returns it with the balance of the wallet.
///
/// # Errors
/// When the key belongs to another amount, the provider refuses or is unreachable, the amount exceeds the maximum balance,
/// or the database fails.
pub(crate) async fn top_up(state: &State, request: TopUpRequest) -> Result<(TopUp, Paise), TopUpError> {
    let (unit, provider) = (&state.unit, &state.provider);
    let amount = request.amount;
    let top_up = find_or_insert(unit, request, provider.name()).await?;
    if top_up.amount != amount {
        return Err(TopUpError::KeyReused);
    }
    // The sandbox pays at once, also after a crash in between.
    let is_at_provider = top_up.provider_reference.is_some() && provider.name().is_real();
    let is_registered = top_up.status != Status::Pending || is_at_provider;
    // The settings may name another provider than at the first request.
    if is_registered || top_up.provider != provider.name() {
        let balance = balance(unit, top_up.business).await?;
        return Ok((top_up, balance));
    }
    let order = match provider.create_order(&top_up).await {
        Err(ProviderError::Refused(reason)) => {
            fail(unit, &top_up).await?;
            return Err(ProviderError::Refused(reason).into());
        }
        order => order?,
    };
    let top_up = match &order.reference {
        Some(reference) => set_provider_reference(unit, &top_up, reference).await?,
        None => top_up,
    };
    match &order.payment {
        Some(payment) => {
            let applied = apply_payment::<TopUpError>(state, &top_up, payment).await?;
            Ok((applied.top_up, applied.balance))
        }
        None => {
            let balance = balance(unit, top_up.business).await?;
            Ok((top_up, balance))
        }
    }
}

/// Inserts the top-up, or finds the one with the same idempotency key.
async fn find_or_insert(unit: &Unit, request: TopUpRequest, provider: Provider) -> Result<TopUp, TopUpError> {
    let now = unit.clock.now();
    let new = TopUp {
        id: TopUpId::generate(&unit.clock, &unit.entropy),
        business: request.business,
        provider,
        provider_reference: None,
        payment_reference: None,
        idempotency_key: request.idempotency_key,
        amount: request.amount,
        status: Status::Pending,
        created_at: now,
    };
    let first_check = now + next_check(TimeDelta::zero()).unwrap_or_default();
    unit.database
        .transaction(async |conn| {
            store::wallets::lock_or_create(conn, new.business, now).await?;
            if let Some(key) = &new.idempotency_key
                && let Some(before) = store::top_ups::find_by_key(conn, new.business, key).await?
            {
                return Ok(before);
            }
            make_room(conn, new.business, now).await?;
            store::top_ups::insert(conn, &new, first_check).await?;
            Ok(new.clone())
        })
        .await
}

/// Lets a pending top-up give way to a new one: the oldest, or one that the provider does not know. The caller has locked the
/// wallet.
async fn make_room(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<(), TopUpError> {
    let pending = store::top_ups::pending(conn, business, PENDING_MAX).await?;
    if i64::try_from(pending.len()).unwrap_or(i64::MAX) < PENDING_MAX {
        return Ok(());
    }
    let gives_way = |top_up: &&TopUp| {
        let after = match top_up.provider_reference {
            Some(_) => GIVES_WAY_AFTER,
            None => UNREGISTERED_GIVES_WAY_AFTER,
        };
        now - top_up.created_at >= after
    };
    let given_way = pending.iter().find(gives_way).ok_or(TopUpError::TooManyPending)?;
    Ok(store::top_ups::fail(conn, given_way, now).await?)
}

/// Stores the provider's id of the top-up, and returns the top-up with the id that was stored first.
async fn set_provider_reference(unit: &Unit, top_up: &TopUp, reference: &str) -> Result<TopUp, TopUpError> {
    unit.database
        .transaction(async |conn| {
            store::top_ups::set_provider_reference(conn, top_up, reference).await?;
            let stored = store::top_ups::find(conn, top_up.business, top_up.id).await?;
            stored.ok_or_else(|| StoreError::Corrupt(format!("{} does not exist", top_up.id)).into())
        })
        .await
}

/// Marks a pending top-up as failed.
pub(super) async fn fail(unit: &Unit, top_up: &TopUp) -> Result<(), StoreError> {
    let now = unit.clock.now();
    unit.database.transaction(async |conn| store::top_ups::fail(conn, top_up, now).await).await
}

async fn balance(unit: &Unit, business: BusinessId) -> Result<Paise, StoreError> {
    let record = unit.database.read(async |conn| store::wallets::find(conn, business).await).await?;
    Ok(record.map(|record| record.wallet.balance).unwrap_or_default())
}
