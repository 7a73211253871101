//! Wallets.

use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::one_more;
use crate::state::State;
use crate::store;

pub(crate) use crate::store::wallets::WalletRecord;

/// The wallet, and what the business owes. `None` for a business that never paid in.
///
/// # Errors
/// When the database fails.
pub(crate) async fn find(
    state: &State,
    business: BusinessId,
) -> Result<Option<(WalletRecord, Paise)>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(record) = store::wallets::find(conn, business).await? else { return Ok(None) };
            Ok(Some((record, store::transfers::owed(conn, business).await?)))
        })
        .await
}

/// What the business owes.
///
/// # Errors
/// When the database fails.
pub(crate) async fn owed(state: &State, business: BusinessId) -> Result<Paise, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::transfers::owed(conn, business).await).await
}

/// Businesses with a wallet, in the order of their ids, from the first one after `after`: up to `limit`, and one more if
/// there are more.
///
/// # Errors
/// When the database fails.
pub(crate) async fn businesses(
    state: &State,
    after: &str,
    limit: usize,
) -> Result<Vec<BusinessId>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::wallets::businesses(conn, after, one_more(limit)).await).await
}

/// The balances of those of these businesses that have a wallet.
///
/// # Errors
/// When the database fails.
pub(crate) async fn balances(
    state: &State,
    businesses: &[BusinessId],
) -> Result<Vec<(BusinessId, Paise)>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| store::wallets::balances(conn, businesses).await).await
}
