//! The end of a business: what is open, and what must be settled first (SPECIFICATION §13.7).

use chrono::{DateTime, Utc};
use domain::{BusinessId, Paise};
use serde::Serialize;
use utoipa::ToSchema;

/// A business that is being closed, or is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) business: BusinessId,
    pub(crate) requested_at: DateTime<Utc>,
    /// Whether the operator began it. Then no owner withdraws it.
    pub(crate) by_operator: bool,
    pub(crate) reason: Option<String>,
    /// Whether a withdrawal switches live access on again.
    pub(crate) restores_live_access: bool,
    /// Set before keys and endpoints end. From then on nobody withdraws it.
    pub(crate) ending_at: Option<DateTime<Utc>>,
    pub(crate) completed_at: Option<DateTime<Utc>>,
    /// Set by the completion. Until then, the law keeps the books.
    pub(crate) erase_after: Option<DateTime<Utc>>,
    pub(crate) erased_at: Option<DateTime<Utc>>,
}

/// What a business has in all services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenItems {
    /// Live orders on their way; 1000 means 1,000 or more.
    pub(crate) live_orders: i64,
    /// Parcels that the fleet has after a failed attempt, whatever was decided; 1000 means 1,000 or more.
    pub(crate) failed_deliveries: i64,
    /// Live orders whose payment is undecided.
    pub(crate) undecided_payments: i64,
    /// The orders whose cash on delivery is not settled; 1000 means 1,000 or more. The sum leaves out orders that the wallet does
    /// not know yet, and counts at most 100 orders in each state.
    pub(crate) cash_orders: i64,
    pub(crate) cash_paise: Paise,
    pub(crate) cash_discrepancies: i64,
    pub(crate) balance_paise: Paise,
    pub(crate) owed_paise: Paise,
    /// Requests of the operator that wait for a second person or for their outcome.
    pub(crate) approvals: i64,
    /// Keys that work.
    pub(crate) keys: i64,
    pub(crate) endpoints: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpenItem {
    LiveOrders,
    FailedDeliveries,
    UndecidedPayments,
    Cash,
    CashDiscrepancies,
    Balance,
    Debt,
    Approvals,
    Keys,
    Endpoints,
}

impl OpenItem {
    /// For error messages.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::LiveOrders => "live orders are on their way",
            Self::FailedDeliveries => "the fleet has parcels after failed deliveries",
            Self::UndecidedPayments => "payments of orders are undecided",
            Self::Cash => "cash on delivery is not settled",
            Self::CashDiscrepancies => "discrepancies of cash are open",
            Self::Balance => "the wallet has a balance",
            Self::Debt => "the business owes money",
            Self::Approvals => "requests for approval are open",
            Self::Keys => "API keys work",
            Self::Endpoints => "webhook endpoints exist",
        }
    }
}

impl OpenItems {
    /// What people must settle before the completion.
    pub(crate) fn unsettled(&self) -> Vec<OpenItem> {
        let items = [
            (OpenItem::LiveOrders, self.live_orders != 0),
            (OpenItem::FailedDeliveries, self.failed_deliveries != 0),
            (OpenItem::UndecidedPayments, self.undecided_payments != 0),
            (OpenItem::Cash, self.cash_orders != 0),
            (OpenItem::CashDiscrepancies, self.cash_discrepancies != 0),
            (OpenItem::Balance, self.balance_paise != Paise::ZERO),
            (OpenItem::Debt, self.owed_paise != Paise::ZERO),
            (OpenItem::Approvals, self.approvals != 0),
        ];
        open(&items)
    }

    /// Also what the completion switches off itself.
    pub(crate) fn all(&self) -> Vec<OpenItem> {
        let access = [(OpenItem::Keys, self.keys != 0), (OpenItem::Endpoints, self.endpoints != 0)];
        [self.unsettled(), open(&access)].concat()
    }
}

fn open(items: &[(OpenItem, bool)]) -> Vec<OpenItem> {
    items.iter().filter(|(_, is_open)| *is_open).map(|(item, _)| *item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_open_by_its_own_figure() {
        let nothing = OpenItems::default();
        assert_eq!((nothing.unsettled(), nothing.all()), (vec![], vec![]));
        let paise = Paise::new(1);
        for (items, expected) in [
            (OpenItems { live_orders: 1, ..nothing }, OpenItem::LiveOrders),
            (OpenItems { failed_deliveries: 1, ..nothing }, OpenItem::FailedDeliveries),
            (OpenItems { undecided_payments: 1, ..nothing }, OpenItem::UndecidedPayments),
            (OpenItems { cash_orders: 2, ..nothing }, OpenItem::Cash),
            (OpenItems { cash_discrepancies: 1, ..nothing }, OpenItem::CashDiscrepancies),
            (OpenItems { balance_paise: paise, ..nothing }, OpenItem::Balance),
            (OpenItems { owed_paise: paise, ..nothing }, OpenItem::Debt),
            (OpenItems { approvals: 1, ..nothing }, OpenItem::Approvals),
        ] {
            assert_eq!((items.unsettled(), items.all()), (vec![expected], vec![expected]));
        }
    }

    #[test]
    fn keys_and_endpoints_wait_for_nobody() {
        let access = OpenItems { keys: 1, endpoints: 1, ..OpenItems::default() };
        assert!(access.unsettled().is_empty());
        assert_eq!(access.all(), [OpenItem::Keys, OpenItem::Endpoints]);
    }
}
