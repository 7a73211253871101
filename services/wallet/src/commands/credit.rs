//! Credits that the operator grants manually, once per reference.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Paise, TransferId};
use postgres::StoreError;

use super::posting::add_deposit;
use crate::domain::PostingError;
use crate::state::State;
use crate::store;
use crate::store::transfers::{Booked, Cause};
use crate::store::wallets::WalletRecord;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreditError {
    #[error("a credit with this reference has another amount")]
    ReferenceReused,
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A credit or a debit by the operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adjusted {
    pub(crate) id: TransferId,
    /// Of the first call with this reference.
    pub(crate) at: DateTime<Utc>,
    /// By an earlier call.
    pub(crate) already: bool,
    /// The current balance, and what the business owes.
    pub(crate) balance: Paise,
    pub(crate) owed: Paise,
}

impl Adjusted {
    pub(super) async fn of(
        conn: &AsyncPgConnection,
        record: &WalletRecord,
        stored: Option<Booked>,
        already: bool,
    ) -> Result<Self, StoreError> {
        let stored = stored.ok_or_else(|| StoreError::Corrupt("a booked transfer is missing".into()))?;
        let owed = store::transfers::owed(conn, record.business).await?;
        Ok(Self { id: stored.id, at: stored.created_at, already, balance: record.wallet.balance, owed })
    }
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
) -> Result<Adjusted, CreditError> {
    state
        .unit
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            let mut record = store::wallets::lock_or_create(conn, business, now).await?;
            let before = store::transfers::find_credit(conn, business, &reference).await?;
            match &before {
                Some(before) if before.amount != amount => return Err(CreditError::ReferenceReused),
                Some(_) => {}
                None => {
                    let cause = Cause::OperatorCredit { reference: reference.clone() };
                    let threshold = record.low_balance_threshold.unwrap_or(state.default_threshold);
                    let funded = (&mut record, threshold);
                    add_deposit::<CreditError>(conn, &state.unit, funded, amount, cause).await?;
                }
            }
            let stored = store::transfers::find_credit(conn, business, &reference).await?;
            Ok(Adjusted::of(conn, &record, stored, before.is_some()).await?)
        })
        .await
}
