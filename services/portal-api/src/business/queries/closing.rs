//! The closing of a business.

use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::Closing;
use crate::state::State;
use crate::store::closings;

/// `None` if nobody has begun one.
pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<Closing>, StoreError> {
    state.unit.database.read(async |conn| closings::find(conn, business).await).await
}
