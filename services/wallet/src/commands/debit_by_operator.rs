//! Debits by which the operator corrects a wallet, once per reference. A debit stands alone, or takes back a deposit or a
//! refund. Only the latter may exceed the balance: the business then owes the rest.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Paise, TransferId};
use outbox::Unit;
use postgres::StoreError;

use super::credit::Adjusted;
use super::posting::{announce, take, take_back};
use crate::domain::{PostingError, ShortfallKind};
use crate::state::State;
use crate::store;
use crate::store::transfers::{Booked, Cause};
use crate::store::wallets::WalletRecord;

#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorDebitError {
    #[error("a debit with this reference has another amount or takes back another transfer")]
    ReferenceReused,
    #[error("the wallet has no such deposit or refund")]
    UnknownTransfer,
    #[error("only {0} of the transfer is left to take back")]
    ExceedsTransfer(Paise),
    #[error("the balance is only {0}")]
    Insufficient(Paise),
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Debug)]
pub(crate) struct OperatorDebit {
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) reference: String,
    pub(crate) reason: Option<String>,
    pub(crate) reverses: Option<TransferId>,
}

/// Takes the amount from the wallet, or returns the debit that already has this reference.
///
/// # Errors
/// When the reference belongs to another debit, the amount exceeds the balance or the transfer, or the database fails.
pub(crate) async fn debit(state: &State, request: &OperatorDebit) -> Result<Adjusted, OperatorDebitError> {
    state
        .unit
        .transaction(async |conn| {
            let (mut record, before) = prepare(conn, request).await?;
            if before.is_none() {
                let threshold = record.low_balance_threshold.unwrap_or(state.default_threshold);
                write(conn, &state.unit, (&mut record, threshold), request).await?;
            }
            let stored = store::transfers::find_debit(conn, request.business, &request.reference).await?;
            Ok(Adjusted::of(conn, &record, stored, before.is_some()).await?)
        })
        .await
}

/// Whether the debit is possible now, for a request that a second person must approve.
///
/// # Errors
/// Those of [`debit`].
pub(crate) async fn check(state: &State, request: &OperatorDebit) -> Result<(), OperatorDebitError> {
    state.unit.transaction(async |conn| prepare(conn, request).await.map(|_| ())).await
}

/// The locked wallet, and the debit that already has the reference. Without one, the debit is possible.
async fn prepare(
    conn: &mut AsyncPgConnection,
    request: &OperatorDebit,
) -> Result<(WalletRecord, Option<Booked>), OperatorDebitError> {
    let business = request.business;
    let locked = store::wallets::lock(conn, &[business]).await?.pop();
    let record = locked.ok_or(match request.reverses {
        Some(_) => OperatorDebitError::UnknownTransfer,
        None => OperatorDebitError::Insufficient(Paise::ZERO),
    })?;
    let before = store::transfers::find_debit(conn, business, &request.reference).await?;
    match &before {
        Some(before) if !is_same(before, request) => return Err(OperatorDebitError::ReferenceReused),
        Some(_) => {}
        None => require_possible(conn, &record, request).await?,
    }
    Ok((record, before))
}

fn is_same(before: &Booked, request: &OperatorDebit) -> bool {
    (before.amount, before.reverses) == (request.amount, request.reverses)
}

async fn require_possible(
    conn: &mut AsyncPgConnection,
    record: &WalletRecord,
    OperatorDebit { business, amount, reverses, .. }: &OperatorDebit,
) -> Result<(), OperatorDebitError> {
    let Some(deposit) = *reverses else {
        let balance = record.wallet.balance;
        return if *amount > balance { Err(OperatorDebitError::Insufficient(balance)) } else { Ok(()) };
    };
    let found = store::transfers::find_deposit(conn, *business, deposit).await?;
    let found = found.ok_or(OperatorDebitError::UnknownTransfer)?;
    let left = found.amount.get() - store::transfers::taken_back(conn, *business, deposit).await?.get();
    if amount.get() > left { Err(OperatorDebitError::ExceedsTransfer(Paise::new(left))) } else { Ok(()) }
}

async fn write(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    (record, threshold): (&mut WalletRecord, Paise),
    request: &OperatorDebit,
) -> Result<(), OperatorDebitError> {
    let OperatorDebit { amount, reference, reason, reverses, .. } = request;
    let cause =
        Cause::OperatorDebit { reference: reference.clone(), reverses: *reverses, reason: reason.clone() };
    let Some(deposit) = *reverses else {
        take::<OperatorDebitError>(conn, unit, (&mut *record, threshold), *amount, cause).await?;
        return Ok(announce(conn, unit, record, *amount, (reference, None, false)).await?);
    };
    let kind = ShortfallKind::OperatorDebitShortfall;
    let about = (reference.as_str(), deposit);
    take_back::<OperatorDebitError>(conn, unit, (record, threshold), *amount, about, (cause, kind)).await
}
