//! The service's counters exist from its start: one that begins with what it counts hides that first event from whoever
//! watches its increase, and so from the alert that it is for.

use metrics::counter;
use strum::VariantArray;

use crate::commands::debit;
use crate::domain::{CashStep, NoticeOutcome};

/// Puts them at nought where they are not there yet.
pub(crate) fn create() {
    for outcome in debit::OUTCOMES {
        counter!("wallet_debit_requests_total", "outcome" => outcome).increment(0);
    }
    for outcome in NoticeOutcome::VARIANTS {
        counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(0);
    }
    for step in CashStep::VARIANTS {
        counter!("wallet_cash_steps_total", "step" => step.as_str()).increment(0);
        counter!("wallet_cash_discrepancies_total", "step" => step.as_str()).increment(0);
    }
    for outcome in ["completed", "failed"] {
        counter!("wallet_reconciliation_runs_total", "outcome" => outcome).increment(0);
    }
    counter!("wallet_refunds_total").increment(0);
}
