//! The erasures of businesses.

use domain::BusinessId;
use postgres::StoreError;

use crate::domain::BusinessErasure;
use crate::state::State;
use crate::store::business_erasures;

/// The latest erasure of a business.
pub async fn latest(state: &State, business: BusinessId) -> Result<Option<BusinessErasure>, StoreError> {
    state.unit.database.read(async |conn| business_erasures::of_business(conn, business).await).await
}
