//! Named operator tokens.

use domain::OperatorTokenId;
use postgres::StoreError;

use crate::domain::OperatorToken;
use crate::state::State;
use crate::store::operator_tokens;

/// Newest first. See [`operator_tokens::list`].
pub(crate) async fn list(
    state: &State,
    limit: usize,
    after: Option<OperatorTokenId>,
) -> Result<Option<Vec<OperatorToken>>, StoreError> {
    state.unit.database.read(async |conn| operator_tokens::list(conn, limit, after).await).await
}
