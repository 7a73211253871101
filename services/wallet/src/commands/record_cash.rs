//! Writing down what became of an order's cash: each step once, with the amount that was reported, and booked in the
//! ledger. An amount that is not what it should be is recorded and raised, never dropped.

use domain::{EventId, TransferId};
use postgres::StoreError;
use strum::VariantArray;

use crate::domain::{CashReport, CashStep};
use crate::state::State;
use crate::store;

/// The name under which the inbox remembers what this command has seen.
const CONSUMER: &str = "wallet.cash";

/// Why a report was not written down.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordCashError {
    #[error(
        "the order's cash is another business's, or another event has reported another amount for this step"
    )]
    Contradiction,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What came of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    AsExpected,
    Discrepant,
    /// It was written down before.
    Before,
}

/// Writes a report down and books it. Reports of one order may come in any order, and more than once.
///
/// # Errors
/// When the report contradicts what is written.
pub(crate) async fn record_cash(
    state: &State,
    event: EventId,
    report: &CashReport,
) -> Result<Recorded, RecordCashError> {
    let recorded = state
        .unit
        .database
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            if !outbox::first_time(conn, CONSUMER, event, now).await? {
                return Ok(Recorded::Before);
            }
            let before = store::cash::lock_or_create(conn, report).await?;
            let before = before.ok_or(RecordCashError::Contradiction)?;
            let Some((step, amount)) = report.step else { return Ok(Recorded::AsExpected) };
            match before.reported(step) {
                None => {}
                Some(reported) if reported.amount == amount => return Ok(Recorded::Before),
                Some(_) => return Err(RecordCashError::Contradiction),
            }
            store::cash::note_step(conn, &before, step, amount, report.at).await?;
            let id = TransferId::generate(&state.unit.clock, &state.unit.entropy);
            store::transfers::insert_cash(conn, id, report, (step, amount), now).await?;
            Ok(match before.discrepancy(step, amount) {
                None => Recorded::AsExpected,
                Some(_) => Recorded::Discrepant,
            })
        })
        .await?;
    if let (Some((step, _)), Recorded::AsExpected | Recorded::Discrepant) = (report.step, recorded) {
        log_outcome(report, step, recorded);
    }
    Ok(recorded)
}

fn log_outcome(report: &CashReport, step: CashStep, recorded: Recorded) {
    metrics::counter!("wallet_cash_steps_total", "step" => step.as_str()).increment(1);
    let (order, business_id) = (report.order, report.business);
    if recorded == Recorded::Discrepant {
        metrics::counter!("wallet_cash_discrepancies_total", "step" => step.as_str()).increment(1);
        tracing::warn!(%order, %business_id, %step, "the cash of a delivery is not what it should be");
    } else {
        tracing::info!(%order, %business_id, %step, "cash of a delivery");
    }
}

pub(crate) fn create_counters() {
    for step in CashStep::VARIANTS {
        metrics::counter!("wallet_cash_steps_total", "step" => step.as_str()).increment(0);
        metrics::counter!("wallet_cash_discrepancies_total", "step" => step.as_str()).increment(0);
    }
}
