//! Named operator tokens.

use domain::OperatorTokenId;
use postgres::StoreError;

use crate::console::domain::OperatorToken;
use crate::console::store::operator_tokens;
use crate::state::State;

/// Newest first. See [`operator_tokens::list`].
pub(crate) async fn list(
    state: &State,
    limit: usize,
    after: Option<OperatorTokenId>,
) -> Result<Option<Vec<OperatorToken>>, StoreError> {
    state.unit.database.read(async |conn| operator_tokens::list(conn, limit, after).await).await
}
