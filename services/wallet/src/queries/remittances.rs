//! Remittances.

use domain::{BusinessId, RemittanceId};
use postgres::StoreError;

use super::one_more;
use crate::domain::{Remittance, RemittedOrder};
use crate::state::State;
use crate::store;

/// Remittances of a business, newest first: up to `limit`, and one more if there are more. `None` if `before` is none of
/// them.
///
/// # Errors
/// When the database fails.
pub(crate) async fn page(
    state: &State,
    business: BusinessId,
    before: Option<RemittanceId>,
    limit: usize,
) -> Result<Option<Vec<Remittance>>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            if let Some(before) = before
                && store::remittances::find(conn, business, before).await?.is_none()
            {
                return Ok(None);
            }
            store::remittances::page(conn, business, before, one_more(limit)).await.map(Some)
        })
        .await
}

/// A remittance of this business, with its orders.
///
/// # Errors
/// When the database fails.
pub(crate) async fn find(
    state: &State,
    business: BusinessId,
    id: RemittanceId,
) -> Result<Option<(Remittance, Vec<RemittedOrder>)>, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let Some(found) = store::remittances::find(conn, business, id).await? else { return Ok(None) };
            Ok(Some((found, store::remittances::orders_of(conn, business, id).await?)))
        })
        .await
}
