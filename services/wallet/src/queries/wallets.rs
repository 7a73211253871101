//! One business's wallet.

use domain::BusinessId;
use postgres::StoreError;

use crate::domain::WalletRecord;
use crate::state::State;
use crate::store;

/// `None` before the first money.
pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<WalletRecord>, StoreError> {
    state.unit.database.read(async |conn| store::wallets::find(conn, business).await).await
}
