//! The pickup profile of a business.

use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::PickupProfile;
use crate::state::State;
use crate::store::pickup_profiles;

pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<PickupProfile>, StoreError> {
    state.unit.database.read(async |conn| pickup_profiles::find(conn, business).await).await
}
