//! Which businesses have a wallet.

use domain::BusinessId;
use postgres::StoreError;

use crate::state::State;
use crate::store;

/// Up to `limit + 1` businesses after the id `after`.
pub(crate) async fn page(state: &State, after: &str, limit: usize) -> Result<Vec<BusinessId>, StoreError> {
    state.unit.database.read(async |conn| store::wallets::businesses(conn, after, limit + 1).await).await
}
