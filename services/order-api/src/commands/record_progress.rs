//! The fleet reports progress. A repeated report changes nothing.

use diesel_async::AsyncPgConnection;
use domain::{EventKind, OrderId};
use postgres::StoreError;

use super::move_order::{MoveError, move_order};
use super::record_attempt::{Reported, record_attempt};
use crate::domain::{CodeCheck, Evidence, Fingerprint, Order};
use crate::order_events::Progress;
use crate::state::State;
use crate::store::{evidence, fleet};

/// A report with the fleet's own id for it.
#[derive(Clone, Debug)]
pub struct FleetReport {
    pub event_id: String,
    pub order_id: OrderId,
    pub fingerprint: Fingerprint,
    pub progress: Progress,
    pub evidence: Option<Evidence>,
    /// What the customer told the driver.
    pub delivery_code: Option<String>,
}

/// Why a report was refused. A refused report is not stored, so the fleet may correct it and send it again.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("the event id was used for another report")]
    EventIdReused,
    /// The business issued none.
    #[error("the order has no delivery code")]
    NoCode,
    /// It counts, so this is the only refusal that commits.
    #[error("the delivery code is wrong")]
    WrongCode { left: i32 },
    #[error("too many delivery codes were wrong")]
    CodeBlocked,
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
    let record = async |conn: &mut _| -> Result<Result<Order, ReportError>, ReportError> {
        let order = fleet::lock(conn, report.order_id).await?.ok_or(MoveError::NotFound)?;
        let now = state.unit.clock.now();
        match fleet::insert_report(conn, &report.event_id, &order, report.fingerprint, now).await? {
            None => apply(state, conn, order, &report).await,
            // Whatever its code is: release 1.0.0 did not look at codes.
            Some((order_of_id, stored))
                if order_of_id == report.order_id && is_same_report(stored, report.fingerprint) =>
            {
                Ok(Ok(order))
            }
            Some(_) => Err(ReportError::EventIdReused),
        }
    };
    state.unit.transaction(record).await?
}

async fn check_code(
    conn: &mut AsyncPgConnection,
    order: &Order,
    report: &FleetReport,
) -> Result<CodeCheck, ReportError> {
    if report.progress.event != EventKind::OrderDelivered {
        return Ok(CodeCheck::NotIssued);
    }
    match (evidence::code(conn, order.business_id, order.id).await?, &report.delivery_code) {
        (None, None) => Ok(CodeCheck::NotIssued),
        (None, Some(_)) => Err(ReportError::NoCode),
        (Some(_), None) => Ok(CodeCheck::NotGiven),
        (Some(code), Some(given)) => Ok(code.check(given)),
    }
}

/// Applies a report that is stored already. The inner error commits.
async fn apply(
    state: &State,
    conn: &mut AsyncPgConnection,
    order: Order,
    report: &FleetReport,
) -> Result<Result<Order, ReportError>, ReportError> {
    let code_verified = match check_code(conn, &order, report).await? {
        CodeCheck::Blocked => return Err(ReportError::CodeBlocked),
        CodeCheck::Wrong { left } => {
            fleet::delete_report(conn, &report.event_id, &order).await?;
            evidence::count_wrong_code(conn, order.business_id, order.id).await?;
            return Ok(Err(ReportError::WrongCode { left }));
        }
        CodeCheck::NotIssued => None,
        CodeCheck::NotGiven => Some(false),
        CodeCheck::Right => Some(true),
    };
    let mut progress = report.progress.clone();
    let (report_id, evidence) = (report.event_id.clone(), report.evidence.clone());
    let reported = Reported { report_id, evidence, code_verified };
    record_attempt(state, conn, &order, &mut progress, reported).await?;
    Ok(Ok(move_order(state, conn, order, progress).await?))
}
