//! Erases an order's personal data from its stored events and responses. Pending deliveries and later redeliveries send
//! the erased form.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId};
use postgres::StoreError;

use crate::state::State;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum EraseError {
    #[error("the order belongs to another business")]
    ForeignOrder,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Idempotent.
///
/// # Errors
/// When the order belongs to another business, or the database is unreachable; then nothing is erased.
pub(crate) async fn erase_personal_data(
    state: &State,
    business: BusinessId,
    order: OrderId,
    at: DateTime<Utc>,
) -> Result<(), EraseError> {
    state
        .unit
        .database
        .transaction(async |conn| {
            // Locks the order's stream: events that arrive later are erased when they are accepted.
            if !store::mark_erased(conn, business, order, at).await? {
                return Err(EraseError::ForeignOrder);
            }
            store::erase_bodies(conn, business, order, at).await?;
            store::erase_held_back(conn, business, order).await?;
            store::erase_responses(conn, business, order).await?;
            Ok(())
        })
        .await?;
    tracing::info!(business_id = %business, order_id = %order, "personal data of an order erased");
    Ok(())
}
