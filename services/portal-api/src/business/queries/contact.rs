//! The contact of a business, and the notes of the staff.

use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::{Contact, StaffNote};
use crate::state::State;
use crate::store::{contacts, staff_notes};

/// Empty without one.
pub(crate) async fn find(state: &State, business: BusinessId) -> Result<Contact, StoreError> {
    state.unit.database.read(async |conn| contacts::find(conn, business).await).await
}

/// The newest notes, or those before a number: up to `limit`, and one more if there are more.
pub(crate) async fn notes(
    state: &State,
    business: BusinessId,
    limit: usize,
    before: Option<i64>,
) -> Result<Vec<StaffNote>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    state.unit.database.read(async |conn| staff_notes::list(conn, business, limit, before).await).await
}
