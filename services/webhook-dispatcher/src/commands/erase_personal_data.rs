//! An order's personal data was erased: so it is from whatever is kept here of its events, for good. What is still to be sent
//! goes out in the erased form, and what is sent again does too.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId};
use postgres::StoreError;

use crate::app::App;
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(crate) enum EraseError {
    #[error("the order belongs to another business")]
    ForeignOrder,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for EraseError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// May be done as often as it comes: it ends the same.
///
/// # Errors
/// When the order is another business's, or the database cannot answer; nothing is erased then.
pub(crate) async fn erase_personal_data(
    app: &App,
    business: BusinessId,
    order: OrderId,
    at: DateTime<Utc>,
) -> Result<(), EraseError> {
    app.database
        .transaction(async |conn| {
            // The lock under which the order's events are taken in: what comes later is taken in erased.
            if !store::mark_erased(conn, business, order, at).await? {
                return Err(EraseError::ForeignOrder);
            }
            store::erase_bodies(conn, business, order, at).await?;
            store::erase_parked(conn, business, order).await?;
            store::forget_answers(conn, business, order).await?;
            Ok(())
        })
        .await?;
    tracing::info!(business_id = %business, order_id = %order, "an order's personal data was erased from its webhooks");
    Ok(())
}
