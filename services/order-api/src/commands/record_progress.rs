//! The fleet reports progress. A repeated report changes nothing.

use domain::OrderId;
use postgres::StoreError;

use super::move_order::{MoveError, move_order};
use crate::domain::{Fingerprint, Order};
use crate::order_events::Progress;
use crate::state::State;
use crate::store::fleet;

/// A report with the fleet's own id for it.
#[derive(Clone, Debug)]
pub struct FleetReport {
    pub event_id: String,
    pub order_id: OrderId,
    pub fingerprint: Fingerprint,
    pub progress: Progress,
}

/// Why a report was refused. A refused report is not stored, so the fleet may correct it and send it again.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("the event id was used for another report")]
    EventIdReused,
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl From<StoreError> for ReportError {
    fn from(error: StoreError) -> Self {
        Self::Move(error.into())
    }
}

/// The content of an erased report is unknown, so it equals every report.
fn is_same_report(stored: Fingerprint, sent: Fingerprint) -> bool {
    stored == sent || stored == Fingerprint::ERASED
}

/// Applies a report and returns the order.
pub async fn record_progress(state: &State, report: FleetReport) -> Result<Order, ReportError> {
    let FleetReport { event_id, order_id, fingerprint, progress } = report;
    let record = async |conn: &mut _| -> Result<Order, ReportError> {
        let order = fleet::lock(conn, order_id).await?.ok_or(MoveError::NotFound)?;
        let now = state.unit.clock.now();
        match fleet::insert_report(conn, &event_id, &order, fingerprint, now).await? {
            None => Ok(move_order(state, conn, order, progress).await?),
            Some((order_of_id, stored)) if order_of_id == order_id && is_same_report(stored, fingerprint) => {
                Ok(order)
            }
            Some(_) => Err(ReportError::EventIdReused),
        }
    };
    state.unit.transaction(record).await
}
