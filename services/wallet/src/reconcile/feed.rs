//! The feeds that are scanned, their order, and the start of each.

use chrono::{DateTime, Utc};
use domain::{OrderId, RemittanceId, TopUpId, TransferId};
use strum::{Display, IntoStaticStr, VariantArray};

use crate::domain::Check;
use crate::store::reconciliation::LedgerTable;

/// An ordered sequence of rows. A cursor into it is a text: the id of the previous row, or a [`ChangeCursor`]. The variants
/// are scanned in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Feed {
    Wallets,
    Transfers,
    Debits,
    Cash,
    TopUps,
    Remittances,
    /// Placed live orders of order-api by their last change: each must be paid, and refunded if due.
    Orders,
    /// Orders of debits: each must allow a debit.
    OrderDebits,
    /// Orders of fees and refunds by transfer: the same checks for new transfers, however old the order is.
    OrderTransfers,
    /// Orders with cash: the cash must match the order.
    OrderCash,
}

impl Feed {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// The ledger table of a feed within the ledger; `None` for comparisons with order-api.
    pub(super) fn table(self) -> Option<LedgerTable> {
        match self {
            Self::Wallets => Some(LedgerTable::Wallets),
            Self::Transfers => Some(LedgerTable::Transfers),
            Self::Debits => Some(LedgerTable::Debits),
            Self::Cash => Some(LedgerTable::Cash),
            Self::TopUps => Some(LedgerTable::TopUps),
            Self::Remittances => Some(LedgerTable::Remittances),
            Self::Orders | Self::OrderDebits | Self::OrderTransfers | Self::OrderCash => None,
        }
    }

    /// The table that a check reads; `None` for comparisons with order-api.
    pub(super) fn table_of(check: Check) -> Option<LedgerTable> {
        match check {
            Check::WalletBalanceWrong | Check::ReceivableOverpaid => Some(LedgerTable::Wallets),
            Check::TransferUnbalanced
            | Check::TransferWrongAccounts
            | Check::EntryWithoutTransfer
            | Check::WalletChainBroken
            | Check::FeeWithoutDebit
            | Check::RefundWrong
            | Check::RefundRepeated
            | Check::TopUpWrong
            | Check::CreditRepeated
            | Check::DebitExceedsDeposit
            | Check::CashWrong => Some(LedgerTable::Transfers),
            Check::DebitRepeated | Check::DebitWithoutFee => Some(LedgerTable::Debits),
            Check::CashNotBooked => Some(LedgerTable::Cash),
            Check::TopUpNotBooked => Some(LedgerTable::TopUps),
            Check::RemittanceWrong => Some(LedgerTable::Remittances),
            Check::OrderWithoutDebit
            | Check::DebitDiffersFromOrder
            | Check::DebitWithoutOrder
            | Check::RefundMissing
            | Check::RefundNotDue
            | Check::TestOrderDebited
            | Check::CashDiffersFromOrder
            | Check::CashMissing => None,
        }
    }

    /// New rows are at the end. Not so for wallets, which keep their place when their balance changes.
    pub(super) fn has_recent(self) -> bool {
        self != Self::Wallets
    }

    /// The whole history is scanned. Not so for [`Feed::OrderTransfers`], whose old rows [`Feed::OrderDebits`] covers.
    pub(super) fn has_sweep(self) -> bool {
        self != Self::OrderTransfers
    }

    /// The cursor before all rows since a time, or before all rows.
    pub(super) fn start(self, since: Option<DateTime<Utc>>) -> String {
        let Some(since) = since else { return String::new() };
        match self {
            Self::Wallets => String::new(),
            Self::Transfers | Self::OrderTransfers => TransferId::first_of(since).to_string(),
            Self::Debits | Self::OrderDebits | Self::Cash | Self::OrderCash => {
                OrderId::first_of(since).to_string()
            }
            Self::TopUps => TopUpId::first_of(since).to_string(),
            Self::Remittances => RemittanceId::first_of(since).to_string(),
            Self::Orders => ChangeCursor { at: since, order: None }.to_string(),
        }
    }
}

/// A cursor into [`Feed::Orders`]: after this order among those that changed at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangeCursor {
    pub(super) at: DateTime<Utc>,
    pub(super) order: Option<OrderId>,
}

impl std::fmt::Display for ChangeCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.at.timestamp_micros())?;
        self.order.map_or(Ok(()), |order| write!(f, " {order}"))
    }
}

impl ChangeCursor {
    /// An invalid cursor means the beginning: scanning too much is harmless.
    pub(super) fn parse(text: &str) -> Self {
        let (micros, order) = text.split_once(' ').unwrap_or((text, ""));
        let at = micros.parse().ok().and_then(DateTime::from_timestamp_micros);
        Self { at: at.unwrap_or(DateTime::UNIX_EPOCH), order: order.parse().ok() }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};

    use super::*;

    #[test]
    fn a_cursor_parses_as_written() {
        let clock =
            Clock::manual(DateTime::UNIX_EPOCH + chrono::TimeDelta::microseconds(1_769_851_800_123_456));
        let order = OrderId::generate(&clock, &Entropy::seeded(1));
        for order in [None, Some(order)] {
            let cursor = ChangeCursor { at: clock.now(), order };
            assert_eq!(ChangeCursor::parse(&cursor.to_string()), cursor);
        }
        assert_eq!(ChangeCursor::parse(""), ChangeCursor { at: DateTime::UNIX_EPOCH, order: None });
    }

    /// The database stores cursors by these names, so they must not change.
    #[test]
    fn feeds_keep_their_stored_names() {
        let feeds = Feed::VARIANTS.iter().map(|feed| (feed.name(), feed.has_recent(), feed.has_sweep()));
        let stored = [
            ("wallets", false, true),
            ("transfers", true, true),
            ("debits", true, true),
            ("cash", true, true),
            ("top_ups", true, true),
            ("remittances", true, true),
            ("orders", true, true),
            ("order_debits", true, true),
            ("order_transfers", true, false),
            ("order_cash", true, true),
        ];
        assert_eq!(Vec::from_iter(feeds), stored);
    }

    #[test]
    fn new_rows_start_with_the_ids_of_their_time() {
        let since = DateTime::from_timestamp(1_769_851_800, 0).unwrap();
        for feed in Feed::VARIANTS {
            assert_eq!(feed.start(None), "", "{feed}");
        }
        for (feed, start) in [
            (Feed::Wallets, String::new()),
            (Feed::Transfers, TransferId::first_of(since).to_string()),
            (Feed::OrderTransfers, TransferId::first_of(since).to_string()),
            (Feed::Debits, OrderId::first_of(since).to_string()),
            (Feed::OrderDebits, OrderId::first_of(since).to_string()),
            (Feed::Cash, OrderId::first_of(since).to_string()),
            (Feed::OrderCash, OrderId::first_of(since).to_string()),
            (Feed::TopUps, TopUpId::first_of(since).to_string()),
            (Feed::Remittances, RemittanceId::first_of(since).to_string()),
            (Feed::Orders, "1769851800000000".to_owned()),
        ] {
            assert_eq!(feed.start(Some(since)), start, "{feed}");
        }
    }

    #[test]
    fn each_check_within_the_ledger_reads_one_table() {
        for check in Check::VARIANTS {
            let tables: Vec<_> = Feed::VARIANTS
                .iter()
                .filter_map(|feed| feed.table())
                .filter(|table| {
                    crate::store::reconciliation::checks_of(*table).iter().any(|(of, _)| of == check)
                })
                .collect();
            assert_eq!(tables, Vec::from_iter(Feed::table_of(*check)), "{check}");
        }
    }
}
