//! Top-ups.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Paise, TopUpId};
use postgres::StoreError;

use crate::domain::{PENDING_MAX, TopUp};
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
            Ok(Some((top_up, balance(conn, business).await?)))
        })
        .await
}

/// The top-ups of this business that wait for their payment, oldest first, with the balance of the wallet.
///
/// # Errors
/// When the database fails.
pub(crate) async fn pending(state: &State, business: BusinessId) -> Result<(Vec<TopUp>, Paise), StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let pending = store::top_ups::pending(conn, business, PENDING_MAX).await?;
            Ok((pending, balance(conn, business).await?))
        })
        .await
}

async fn balance(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<Paise, StoreError> {
    let record = store::wallets::find(conn, business).await?;
    Ok(record.map(|record| record.wallet.balance).unwrap_or_default())
}
