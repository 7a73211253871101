//! A business asks for another attempt at a failed delivery, or for its parcel. The fleet sees it in its list of orders.

use domain::{BusinessId, Mode, OrderId};
use postgres::StoreError;

use super::move_order::later_than;
use crate::domain::{Decided, Decision, Order, Refusal};
use crate::state::State;
use crate::store::orders;

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the order does not allow it")]
    Refused(Decision, Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Records a decision, with a note for the driver, and returns the order. The same decision again changes nothing, and
/// another one replaces it.
pub async fn decide_after_failure(
    state: &State,
    (business, mode, id): (BusinessId, Mode, OrderId),
    decision: Decision,
    note: Option<String>,
) -> Result<Order, DecideError> {
    let decide = async |conn: &mut _| -> Result<Order, DecideError> {
        let mut order = orders::lock(conn, business, mode, id).await?.ok_or(DecideError::NotFound)?;
        let is_known = order.decided.is_some_and(|decided| decided.decision == decision);
        if is_known && order.reattempt_note() == note.as_deref() {
            return Ok(order);
        }
        if let Some(refusal) = decision.refusal(&order, state.attempts_max) {
            return Err(DecideError::Refused(decision, refusal));
        }
        let now = state.unit.clock.now();
        order.decided = Some(Decided { decision, at: now });
        order.set_reattempt_note(note.clone());
        order.updated_at = later_than(order.updated_at, now);
        order.updated_at = orders::save_request(conn, &order).await?;
        Ok(order)
    };
    state.unit.transaction(decide).await
}
