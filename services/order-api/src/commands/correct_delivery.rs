//! A business corrects the address or the phone of a parcel that is not delivered yet.

use std::sync::Arc;

use domain::{ApiKeyId, BusinessId, DeliveryStatus, Mode, OrderId};
use postgres::StoreError;

use super::move_order::later_than;
use crate::domain::{Correction, Order};
use crate::state::State;
use crate::store::{orders, search_index};

/// Why nothing was corrected.
#[derive(Debug, thiserror::Error)]
pub enum CorrectError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the delivery has ended")]
    Ended(DeliveryStatus),
    #[error("the personal data is erased")]
    Erased,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Corrects an order, for a key or a person in the portal, and returns it. The same correction again changes nothing.
pub async fn correct_delivery(
    state: &State,
    (business, mode, id): (BusinessId, Mode, OrderId),
    key_id: Option<ApiKeyId>,
    correction: Correction,
) -> Result<Order, CorrectError> {
    let correct = async |conn: &mut _| -> Result<Order, CorrectError> {
        let mut order = orders::lock(conn, business, mode, id).await?.ok_or(CorrectError::NotFound)?;
        let at = later_than(order.updated_at, state.unit.clock.now());
        let corrected = correction.applied_to(&order.details, at, key_id);
        if *order.details == corrected {
            return Ok(order);
        }
        if order.personal_data_erased_at.is_some() {
            return Err(CorrectError::Erased);
        }
        if order.state.is_completed() {
            return Err(CorrectError::Ended(order.state.status));
        }
        order.details = Arc::new(corrected);
        order.updated_at = at;
        order.updated_at = orders::save_request(conn, &order, order.sequence).await?;
        search_index::replace(conn, &order).await?;
        Ok(order)
    };
    state.unit.transaction(correct).await
}
