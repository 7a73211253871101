//! Records the steps of an order's cash, each once, with the reported amount, and books them in the ledger. An unexpected
//! amount is recorded as a discrepancy, never dropped.

use diesel_async::AsyncPgConnection;
use domain::{EventId, TransferId};
use metrics::counter;
use postgres::StoreError;
use strum::VariantArray;

use crate::domain::{CashReport, CashStep};
use crate::state::State;
use crate::store;
use crate::store::transfers::CashMove;

/// The name of this consumer in the inbox.
const CONSUMER: &str = "wallet.cash";

#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordCashError {
    #[error("the cash belongs to another business, or another event reported another amount for this step")]
    Contradiction,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    AsExpected,
    Discrepant,
    /// A remittance had booked the step with another amount.
    NotBooked,
    /// The step was recorded before.
    Before,
}

pub(super) fn publish_counters() {
    for step in CashStep::VARIANTS {
        counter!("wallet_cash_steps_total", "step" => step.as_str()).increment(0);
        counter!("wallet_cash_discrepancies_total", "step" => step.as_str()).increment(0);
    }
}

/// Records and books a report. The reports of an order may arrive in any order, and repeatedly.
///
/// # Errors
/// When the report contradicts a recorded one, or the database fails.
pub(crate) async fn record_cash(
    state: &State,
    event: EventId,
    report: &CashReport,
) -> Result<Recorded, RecordCashError> {
    let unit = &state.unit;
    let recorded = unit
        .database
        .transaction(async |conn| {
            let now = unit.clock.now();
            if !outbox::first_time(conn, CONSUMER, event, now).await? {
                return Ok(Recorded::Before);
            }
            let before = store::cash::lock_or_create(conn, report).await?;
            let before = before.ok_or(RecordCashError::Contradiction)?;
            let Some((step, amount)) = report.step else { return Ok(Recorded::AsExpected) };
            match before.reported(step) {
                None => {}
                Some(reported) if reported.amount == amount => return Ok(Recorded::Before),
                Some(_) if is_remitted(conn, report, step).await? => {
                    let (business, order) = (report.business, report.order);
                    store::cash_differences::report(conn, business, order, amount, now).await?;
                    return Ok(Recorded::NotBooked);
                }
                Some(_) => return Err(RecordCashError::Contradiction),
            }
            store::cash::record_step(conn, &before, step, amount, report.at).await?;
            let id = TransferId::generate(&unit.clock, &unit.entropy);
            let moved = CashMove { id, order: report.order, amount };
            store::transfers::insert_cash(conn, report.business, step, &[moved], now).await?;
            Ok(match before.discrepancy(step, amount) {
                None => Recorded::AsExpected,
                Some(_) => Recorded::Discrepant,
            })
        })
        .await?;
    if let Some((step, _)) = report.step {
        log_and_count(report, step, recorded);
    }
    Ok(recorded)
}

/// A remittance settled the order while the fleet reported another settlement. The bank transfer counts; the report stays
/// visible as a difference.
async fn is_remitted(
    conn: &mut AsyncPgConnection,
    report: &CashReport,
    step: CashStep,
) -> Result<bool, StoreError> {
    let remitted = store::remittances::of_cash(conn, &[report.business], &[report.order]).await?;
    Ok(step == CashStep::Settled && !remitted.is_empty())
}

fn log_and_count(report: &CashReport, step: CashStep, recorded: Recorded) {
    if matches!(recorded, Recorded::AsExpected | Recorded::Discrepant) {
        counter!("wallet_cash_steps_total", "step" => step.as_str()).increment(1);
    }
    if matches!(recorded, Recorded::Discrepant | Recorded::NotBooked) {
        counter!("wallet_cash_discrepancies_total", "step" => step.as_str()).increment(1);
    }
    let (order, business_id) = (report.order, report.business);
    match recorded {
        Recorded::AsExpected => tracing::info!(%order, %business_id, %step, "cash recorded"),
        Recorded::Discrepant => {
            tracing::warn!(%order, %business_id, %step, "cash recorded with an unexpected amount");
        }
        Recorded::NotBooked => {
            tracing::warn!(%order, %business_id, %step, "cash reported with another amount than the remittance");
        }
        Recorded::Before => {}
    }
}
