//! What is looked through, in which order, and from where.

use chrono::{DateTime, Utc};
use domain::{OrderId, TopUpId, TransferId};
use strum::{Display, IntoStaticStr, VariantArray};

use crate::domain::Check;
use crate::store::reconciliation::BooksFeed;

/// Rows in an order of their own. A place among them is a text: the id that comes before it, or a [`Change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Feed {
    Wallets,
    Transfers,
    Debits,
    Cash,
    TopUps,
    /// Placed live orders, by their last change: is each paid, and refunded where that is due?
    Orders,
    /// Orders of debits: may each have been debited?
    OrderDebits,
    /// Orders of fees and refunds, by the transfer: the same of what is new in the books, however old its order is.
    OrderTransfers,
    /// Orders with cash: is it what each is to bring?
    OrderCash,
}

impl Feed {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// The table of ours that is read on its own; `None` where order-api is asked, too.
    pub(crate) fn books(self) -> Option<BooksFeed> {
        match self {
            Self::Wallets => Some(BooksFeed::Wallets),
            Self::Transfers => Some(BooksFeed::Transfers),
            Self::Debits => Some(BooksFeed::Debits),
            Self::Cash => Some(BooksFeed::Cash),
            Self::TopUps => Some(BooksFeed::TopUps),
            Self::Orders | Self::OrderDebits | Self::OrderTransfers | Self::OrderCash => None,
        }
    }

    /// The feed in which a finding shows; `None` for those that are about an order and its money.
    pub(crate) fn of(check: Check) -> Option<BooksFeed> {
        match check {
            Check::WalletBalanceWrong => Some(BooksFeed::Wallets),
            Check::TransferUnbalanced
            | Check::TransferWrongAccounts
            | Check::EntryWithoutTransfer
            | Check::WalletChainBroken
            | Check::FeeWithoutDebit
            | Check::RefundWrong
            | Check::RefundRepeated
            | Check::TopUpWrong
            | Check::CreditRepeated
            | Check::CashWrong => Some(BooksFeed::Transfers),
            Check::DebitRepeated | Check::DebitWithoutFee => Some(BooksFeed::Debits),
            Check::CashNotBooked => Some(BooksFeed::Cash),
            Check::TopUpNotBooked => Some(BooksFeed::TopUps),
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

    /// Whether what is new stands together at its end. A wallet keeps its place while its balance changes.
    pub(crate) fn has_recent(self) -> bool {
        self != Self::Wallets
    }

    /// Whether the whole of it is looked through. [`Feed::OrderTransfers`] says of old rows what [`Feed::OrderDebits`]
    /// says, too.
    pub(crate) fn has_sweep(self) -> bool {
        self != Self::OrderTransfers
    }

    /// Before what is new since then, as far as the order of the rows tells; `None`: before all.
    pub(crate) fn start(self, since: Option<DateTime<Utc>>) -> String {
        let Some(since) = since else { return String::new() };
        match self {
            Self::Wallets => String::new(),
            Self::Transfers | Self::OrderTransfers => TransferId::first_of(since).to_string(),
            Self::Debits | Self::OrderDebits | Self::Cash | Self::OrderCash => {
                OrderId::first_of(since).to_string()
            }
            Self::TopUps => TopUpId::first_of(since).to_string(),
            Self::Orders => Change { at: since, order: None }.to_string(),
        }
    }
}

/// A place in [`Feed::Orders`]: behind this order, among those that changed at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: DateTime<Utc>,
    pub(crate) order: Option<OrderId>,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.at.timestamp_micros())?;
        self.order.map_or(Ok(()), |order| write!(f, " {order}"))
    }
}

impl Change {
    /// What was not written by [`Change::to_string`] is the beginning: looking at too much does no harm.
    pub(crate) fn parse(text: &str) -> Self {
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
    fn a_place_among_changes_reads_back_as_written() {
        let clock =
            Clock::manual(DateTime::UNIX_EPOCH + chrono::TimeDelta::microseconds(1_769_851_800_123_456));
        let order = OrderId::generate(&clock, &Entropy::seeded(1));
        for order in [None, Some(order)] {
            let change = Change { at: clock.now(), order };
            assert_eq!(Change::parse(&change.to_string()), change);
        }
        assert_eq!(Change::parse(""), Change { at: DateTime::UNIX_EPOCH, order: None });
    }

    /// The cursors are stored by these names: none may ever change.
    #[test]
    fn feeds_have_the_names_that_are_stored_and_their_parts() {
        let feeds = Feed::VARIANTS.iter().map(|feed| (feed.name(), feed.has_recent(), feed.has_sweep()));
        let stored = [
            ("wallets", false, true),
            ("transfers", true, true),
            ("debits", true, true),
            ("cash", true, true),
            ("top_ups", true, true),
            ("orders", true, true),
            ("order_debits", true, true),
            ("order_transfers", true, false),
            ("order_cash", true, true),
        ];
        assert_eq!(Vec::from_iter(feeds), stored);
    }

    #[test]
    fn what_is_new_begins_with_the_ids_of_its_time() {
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
            (Feed::Orders, "1769851800000000".to_owned()),
        ] {
            assert_eq!(feed.start(Some(since)), start, "{feed}");
        }
    }

    #[test]
    fn each_finding_within_the_books_is_found_again_in_one_feed() {
        for check in Check::VARIANTS {
            let feeds: Vec<_> = Feed::VARIANTS
                .iter()
                .filter_map(|feed| feed.books())
                .filter(|feed| {
                    crate::store::reconciliation::checks_of(*feed).iter().any(|(of, _)| of == check)
                })
                .collect();
            assert_eq!(feeds, Vec::from_iter(Feed::of(*check)), "{check}");
        }
    }
}
