//! Top-ups.

use domain::{BusinessId, Paise, TopUpId};
use postgres::StoreError;

use crate::domain::TopUp;
use crate::state::State;
use crate::store;

/// A top-up of this business, with the balance of the wallet.
///
/// # Errors
/// When the database fails.
pub(crate) async fn find(
    state: &State,
    business: BusinessId,
    id: TopUpId,
) -> Result<Option<(TopUp, Paise)>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(top_up) = store::top_ups::find(conn, business, id).await? else { return Ok(None) };
            let record = store::wallets::find(conn, business).await?;
            let balance = record.map(|record| record.wallet.balance).unwrap_or_default();
            Ok(Some((top_up, balance)))
        })
        .await
}
