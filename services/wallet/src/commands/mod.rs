//! Use cases that write, one per file. Each owns its transaction.

mod apply_payment;
pub(crate) mod assign_difference;
pub(crate) mod check_pending_top_ups;
pub(crate) mod credit;
pub(crate) mod debit;
pub(crate) mod debit_by_operator;
pub(crate) mod erase_business;
mod posting;
pub(crate) mod process_notice;
pub(crate) mod record_cash;
pub(crate) mod refund;
pub(crate) mod remit;
mod reverse_top_up;
pub(crate) mod set_threshold;
pub(crate) mod store_cash_sums;
pub(crate) mod take_attempt_fee;
pub(crate) mod top_up;

use domain::{Clock, Entropy, EventId};
use events::{Body, Envelope, WalletLowBalance};

use crate::domain::LowBalance;

/// Publishes all counters as 0: alerts on increases miss the first event of an absent series.
pub(crate) fn publish_counters() {
    apply_payment::publish_counters();
    debit::publish_counters();
    record_cash::publish_counters();
}

/// The event of a balance that is below its threshold since now.
fn low_balance_event(clock: &Clock, entropy: &Entropy, low: &LowBalance) -> Envelope {
    Envelope {
        id: EventId::generate(clock, entropy),
        business_id: low.business,
        occurred_at: clock.now(),
        body: Body::WalletLowBalance(WalletLowBalance {
            balance_paise: low.balance,
            threshold_paise: low.threshold,
        }),
    }
}
