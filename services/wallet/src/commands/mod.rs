//! What changes a wallet: one use case per file, each with a transaction of its own.

mod confirm_top_up;
pub(crate) mod credit;
pub(crate) mod debit;
pub(crate) mod finish_top_ups;
mod pay_in;
pub(crate) mod record_cash;
pub(crate) mod refund;
pub(crate) mod set_threshold;
pub(crate) mod take_notice;
pub(crate) mod top_up;

use domain::{Clock, Entropy, EventId};
use events::{Body, Envelope, WalletLowBalance};

use crate::domain::LowBalance;

/// The event of a balance that is below its threshold from now on.
fn low_balance_alert(clock: &Clock, entropy: &Entropy, low: &LowBalance) -> Envelope {
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
