//! A stored wallet.

use chrono::{DateTime, Utc};
use domain::{BusinessId, Paise};

use super::ledger::Wallet;

/// A wallet with its threshold and the time of its first funding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalletRecord {
    pub(crate) business: BusinessId,
    pub(crate) wallet: Wallet,
    /// The business's own threshold; `None` means the operator's default.
    pub(crate) low_balance_threshold: Option<Paise>,
    pub(crate) funded_at: Option<DateTime<Utc>>,
}
