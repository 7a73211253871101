//! The balance below which a business wants to hear of it.

use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::low_balance_alert;
use crate::domain::LowBalance;
use crate::domain::WalletRecord;
use crate::state::State;
use crate::store;

/// Sets the business's own threshold, or goes back to the operator's default. A balance that the new threshold makes low
/// is announced as one that fell is: the business has just said that it wants to know.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn set_threshold(
    state: &State,
    business: BusinessId,
    threshold: Option<Paise>,
) -> Result<WalletRecord, StoreError> {
    let default = state.low_balance_threshold;
    let set = state
        .unit
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            let before = store::wallets::lock_or_create(conn, business, now).await?;
            store::wallets::set_threshold(conn, business, threshold).await?;
            let after = WalletRecord { low_balance_threshold: threshold, ..before };
            let effective = threshold.unwrap_or(default);
            let was_low = before.wallet.balance < before.low_balance_threshold.unwrap_or(default);
            if after.funded_at.is_some() && !was_low && after.wallet.balance < effective {
                let low = LowBalance { business, balance: after.wallet.balance, threshold: effective };
                let alert = low_balance_alert(&state.unit.clock, &state.unit.entropy, &low);
                outbox::enqueue(conn, &[alert], now).await?;
            }
            Ok::<_, StoreError>(after)
        })
        .await?;
    Ok(set)
}
