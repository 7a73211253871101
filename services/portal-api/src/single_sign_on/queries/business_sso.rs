//! Single sign-on of a business, as its owners have set it up.

use domain::BusinessId;
use postgres::StoreError;

use crate::single_sign_on::domain::BusinessSso;
use crate::state::State;
use crate::store::business_sso;

pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Option<BusinessSso>, StoreError> {
    let database = &state.unit.database;
    database.read(async |conn| business_sso::find(conn, business).await).await
}
