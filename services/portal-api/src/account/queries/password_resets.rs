//! Password reset links.

use identity::{Account, LinkToken, password_links};
use postgres::StoreError;

use crate::state::State;

/// Whether the link can be used now.
pub(crate) async fn is_valid(state: &State, token: &LinkToken) -> Result<bool, StoreError> {
    let now = state.unit.clock.now();
    let found = state.unit.database.read(async |conn| password_links::find(conn, token, now).await).await?;
    Ok(matches!(found, Some(Account::User(_))))
}
