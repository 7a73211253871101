//! Password reset links.

use postgres::StoreError;

use crate::domain::LinkToken;
use crate::state::State;
use crate::store::password_resets;

/// Whether the link can be used now.
pub(crate) async fn is_valid(state: &State, token: &LinkToken) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let found = state.unit.database.read(async |conn| password_resets::find(conn, token, now).await).await?;
    Ok(found.is_some())
}
