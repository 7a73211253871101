//! The lines of a wallet's statement.

use chrono::{DateTime, Utc};
use domain::{OrderId, TransferId};

use super::ledger::{TransferKind, WalletEntry};

#[derive(Clone, Debug)]
pub(crate) struct StatementLine {
    pub(crate) transfer: TransferId,
    pub(crate) kind: TransferKind,
    pub(crate) entry: WalletEntry,
    pub(crate) order: Option<OrderId>,
    pub(crate) reference: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

/// Selects lines, newest first. The default selects all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineFilter {
    /// Before the line with this sequence.
    pub(crate) before: Option<i64>,
    pub(crate) kind: Option<TransferKind>,
    /// From then on.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Before then.
    pub(crate) until: Option<DateTime<Utc>>,
}

impl LineFilter {
    pub(crate) fn matches(&self, line: &StatementLine) -> bool {
        self.before.is_none_or(|before| line.entry.sequence < before)
            && self.kind.is_none_or(|kind| line.kind == kind)
            && self.since.is_none_or(|since| line.created_at >= since)
            && self.until.is_none_or(|until| line.created_at < until)
    }
}
