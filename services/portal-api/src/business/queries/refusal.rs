//! What the operator refused a business.

use postgres::StoreError;

use crate::business::domain::{Business, Refusal};
use crate::state::State;
use crate::store::refusals;

/// `None` if nothing was refused, or the business has it now.
pub(crate) async fn find(state: &State, business: &Business) -> Result<Option<Refusal>, StoreError> {
    if !business.awaits_operator() {
        return Ok(None);
    }
    state.unit.database.read(async |conn| refusals::find(conn, business.id).await).await
}
