//! Sets the balance below which a business gets an alert.

use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::low_balance_event;
use crate::domain::LowBalance;
use crate::state::State;
use crate::store;
use crate::store::wallets::WalletRecord;

/// Sets the threshold of the business, or restores the operator's default. Announces a low balance if the new threshold
/// makes it low.
///
/// # Errors
/// When the database fails.
pub(crate) async fn set_threshold(
    state: &State,
    business: BusinessId,
    threshold: Option<Paise>,
) -> Result<(), StoreError> {
    let (unit, default) = (&state.unit, state.default_threshold);
    unit.transaction(async |conn| {
        let now = unit.clock.now();
        let before = store::wallets::lock_or_create(conn, business, now).await?;
        store::wallets::set_threshold(conn, business, threshold).await?;
        let after = WalletRecord { low_balance_threshold: threshold, ..before };
        let effective = threshold.unwrap_or(default);
        let was_low = before.wallet.balance < before.low_balance_threshold.unwrap_or(default);
        if after.funded_at.is_some() && !was_low && after.wallet.balance < effective {
            let low = LowBalance { business, balance: after.wallet.balance, threshold: effective };
            let event = low_balance_event(&unit.clock, &unit.entropy, &low);
            unit.outbox.enqueue(conn, &[event], now).await?;
        }
        Ok::<_, StoreError>(())
    })
    .await
}
