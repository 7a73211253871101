//! The fleet reports progress: once per report, however often it is sent.

use domain::OrderId;
use postgres::StoreError;

use super::move_order::{MoveError, Reported, move_order};
use crate::app::App;
use crate::domain::{Fingerprint, Order};
use crate::store::fleet;

/// A report, under the fleet's own id for it.
#[derive(Clone, Debug)]
pub struct FleetReport {
    pub event_id: String,
    pub order_id: OrderId,
    pub fingerprint: Fingerprint,
    pub reported: Reported,
}

/// Why a report was not taken. A refused one is not remembered: corrected, it may come again under its id.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("this event id was used for another report")]
    EventIdReused,
    #[error(transparent)]
    Move(#[from] MoveError),
}

impl From<StoreError> for ReportError {
    fn from(error: StoreError) -> Self {
        Self::Move(MoveError::Store(error))
    }
}

impl From<diesel::result::Error> for ReportError {
    fn from(error: diesel::result::Error) -> Self {
        StoreError::from(error).into()
    }
}

/// Of an order whose personal data was erased nobody knows what was reported, only that it was.
fn is_said_by(first: Fingerprint, again: Fingerprint) -> bool {
    first == again || first == Fingerprint::ERASED
}

/// The order as it is after the report; a repeated report changes nothing.
pub async fn record_progress(app: &App, report: FleetReport) -> Result<Order, ReportError> {
    let order = app
        .database
        .transaction(async |conn| -> Result<Order, ReportError> {
            let order = fleet::lock(conn, report.order_id).await?.ok_or(MoveError::NotFound)?;
            let known =
                fleet::remember(conn, &report.event_id, &order, report.fingerprint, app.ambient.clock.now())
                    .await?;
            match known {
                None => Ok(move_order(&app.ambient, conn, order, report.reported.clone()).await?),
                Some((of, first)) if of == report.order_id && is_said_by(first, report.fingerprint) => {
                    Ok(order)
                }
                Some(_) => Err(ReportError::EventIdReused),
            }
        })
        .await?;
    app.notifier.notify();
    Ok(order)
}
