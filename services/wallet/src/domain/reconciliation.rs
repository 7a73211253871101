//! The rules that the ledger and the orders must satisfy (SPECIFICATION §14.1-2), and the comparison of an order with its
//! money.

use std::cmp::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, CodStatus, Mode, OrderId, Paise};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::Outcome;

/// The rules. Metrics, logs and the database use these names.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Check {
    /// A wallet's balance differs from its newest entry, or is negative.
    WalletBalanceWrong,
    /// The entries of a transfer do not sum to zero.
    TransferUnbalanced,
    /// A transfer lacks one of the two entries of its kind, or has others.
    TransferWrongAccounts,
    EntryWithoutTransfer,
    /// An entry does not continue the previous one of its wallet.
    WalletChainBroken,
    /// A fee has no posted debit with the same order, business and amount.
    FeeWithoutDebit,
    /// A refund does not reverse the fee of its order.
    RefundWrong,
    RefundRepeated,
    /// The transfer of a top-up differs from the top-up.
    TopUpWrong,
    CreditRepeated,
    /// A debit takes back more than its deposit, or a transfer that is no deposit.
    DebitExceedsDeposit,
    /// A business paid more than it owed.
    ReceivableOverpaid,
    /// A transfer of cash differs from the reported step.
    CashWrong,
    DebitRepeated,
    /// A posted debit has no transfer with the same order, business and amount.
    DebitWithoutFee,
    /// A reported step of cash is not booked, or a step is booked without a report.
    CashNotBooked,
    TopUpNotBooked,
    /// A remittance differs from its orders, or from the transfers that settled them.
    RemittanceWrong,
    /// A placed live order has no posted debit.
    OrderWithoutDebit,
    /// A posted debit has another amount or business than its order.
    DebitDiffersFromOrder,
    /// The order of a posted debit does not exist or is not placed.
    DebitWithoutOrder,
    RefundMissing,
    RefundNotDue,
    TestOrderDebited,
    /// Cash has another business or amount than its order, or its order does not exist, is not placed, or is a test order.
    CashDiffersFromOrder,
    /// The order reports cash, or a step of it, that the ledger lacks.
    CashMissing,
}

impl Check {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A broken rule. Findings are logged, so they contain only ids, kinds and amounts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    /// The id of a transfer, order, top-up or business.
    pub(crate) subject: String,
    pub(crate) detail: String,
}

/// The longest time that a step between the services takes: recovery finishes orders after 6 s, and events cross the broker
/// within seconds.
pub(crate) const UNDER_WAY_MAX: TimeDelta = TimeDelta::seconds(60);

/// An order as order-api reports it.
#[derive(Clone, Debug)]
pub(crate) struct OrderSide {
    pub(crate) business: BusinessId,
    pub(crate) mode: Mode,
    pub(crate) placed: bool,
    pub(crate) fee: Paise,
    /// The cash to collect.
    pub(crate) cash: Paise,
    pub(crate) cash_status: CodStatus,
    /// The ledger knows the cash from the delivery on.
    pub(crate) delivered: bool,
    pub(crate) refund_due: bool,
    pub(crate) changed_at: DateTime<Utc>,
}

/// A debit of the order in the ledger.
#[derive(Clone, Debug)]
pub(crate) struct DebitSide {
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) outcome: Outcome,
    pub(crate) decided_at: DateTime<Utc>,
}

/// The cash of the order in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CashSide {
    pub(crate) business: BusinessId,
    /// `None` until an event reports it.
    pub(crate) expected: Option<Paise>,
    pub(crate) status: CodStatus,
    /// When a remittance settled it.
    pub(crate) remitted_at: Option<DateTime<Utc>>,
}

/// The order's money in the ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerSide {
    pub(crate) debits: Vec<DebitSide>,
    pub(crate) refunded: bool,
    pub(crate) cash: Option<CashSide>,
}

/// A difference between an order and the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discrepancy {
    pub(crate) finding: Finding,
    /// If the missing step may still follow: the time of its cause.
    pub(crate) awaited_since: Option<DateTime<Utc>>,
}

impl Discrepancy {
    /// It is too recent to be a finding.
    pub(crate) fn is_under_way(&self, now: DateTime<Utc>) -> bool {
        self.awaited_since.is_some_and(|since| now - since < UNDER_WAY_MAX)
    }
}

/// Compares an order with its money. The two sides were read at different times, so callers check discrepancies again
/// before they report them.
pub(crate) fn compare(id: OrderId, order: Option<&OrderSide>, ledger: &LedgerSide) -> Vec<Discrepancy> {
    let mut discrepancies = Vec::new();
    let mut report = |check, detail: String, awaited_since| {
        let finding = Finding { check, subject: id.to_string(), detail };
        discrepancies.push(Discrepancy { finding, awaited_since });
    };
    let posted = ledger.debits.iter().find(|debit| debit.outcome == Outcome::Posted);
    let described =
        |debit: &DebitSide| format!("a debit of {} paise of {}", debit.amount.get(), debit.business);
    let placed = order.filter(|order| order.placed && order.mode == Mode::Live);
    match (order, posted) {
        (Some(OrderSide { mode: Mode::Test, .. }), _) => {
            for debit in &ledger.debits {
                report(Check::TestOrderDebited, format!("{}, {}", described(debit), debit.outcome), None);
            }
        }
        (None, Some(debit)) => {
            report(Check::DebitWithoutOrder, format!("{}; there is no such order", described(debit)), None);
        }
        (Some(order), Some(debit)) if !order.placed => {
            let detail = format!("{}; the order is not placed", described(debit));
            report(Check::DebitWithoutOrder, detail, Some(debit.decided_at));
        }
        (Some(order), Some(debit)) if (order.business, order.fee) != (debit.business, debit.amount) => {
            let expected = format!("the order is of {} paise of {}", order.fee.get(), order.business);
            report(Check::DebitDiffersFromOrder, format!("{}; {expected}", described(debit)), None);
        }
        (Some(order), None) if order.placed => {
            let detail = format!("{} paise of {}", order.fee.get(), order.business);
            report(Check::OrderWithoutDebit, detail, None);
        }
        _ => {}
    }
    match (placed.filter(|order| order.refund_due), posted, ledger.refunded) {
        (Some(order), Some(debit), false) => {
            report(Check::RefundMissing, described(debit), Some(order.changed_at));
        }
        (None, _, true) => {
            report(Check::RefundNotDue, "the delivery did not end before the pickup".into(), None)
        }
        _ => {}
    }
    if let Some((check, detail, awaited_since)) = cash_discrepancy(placed, ledger.cash) {
        report(check, detail, awaited_since);
    }
    discrepancies
}

/// Compares the cash of an order with the ledger: business, amount and status. The order changes before the ledger, so a step
/// that the ledger lacks may be under way. Only a remittance is booked first, and then settles the order.
fn cash_discrepancy(
    placed: Option<&OrderSide>,
    cash: Option<CashSide>,
) -> Option<(Check, String, Option<DateTime<Utc>>)> {
    if let Some(cash) = cash.filter(|cash| !agrees(*cash, placed)) {
        let of_order = placed.map_or_else(
            || "there is no such placed live order".to_owned(),
            |order| format!("the order is of {} paise of {}", order.cash.get(), order.business),
        );
        let expected =
            cash.expected.map_or_else(|| "unknown".to_owned(), |amount| format!("{} paise", amount.get()));
        let detail = format!("{expected} expected of {}; {of_order}", cash.business);
        return Some((Check::CashDiffersFromOrder, detail, None));
    }
    let order = placed?;
    let reported = order.cash_status;
    let booked = cash.map(|cash| cash.status);
    let detail = || {
        let booked = booked.map_or_else(|| "none".to_owned(), |status| status.to_string());
        format!("order: {reported}; ledger: {booked}")
    };
    if booked.is_none() && order.delivered && reported != CodStatus::NotApplicable {
        return Some((Check::CashMissing, detail(), Some(order.changed_at)));
    }
    match steps(reported).cmp(&booked.map_or(0, steps)) {
        Ordering::Equal => None,
        Ordering::Less => {
            let remitted_at = cash.and_then(|cash| cash.remitted_at);
            let awaited_since = remitted_at.filter(|_| reported == CodStatus::HandedOver);
            Some((Check::CashDiffersFromOrder, detail(), awaited_since))
        }
        Ordering::Greater => Some((Check::CashMissing, detail(), Some(order.changed_at))),
    }
}

/// The number of times that the cash moved.
fn steps(status: CodStatus) -> u8 {
    match status {
        CodStatus::NotApplicable | CodStatus::Pending => 0,
        CodStatus::Collected => 1,
        CodStatus::HandedOver => 2,
        CodStatus::Settled => 3,
    }
}

fn agrees(cash: CashSide, placed: Option<&OrderSide>) -> bool {
    placed.is_some_and(|order| {
        let differs = cash.expected.is_some_and(|expected| expected != order.cash);
        order.business == cash.business && !differs
    })
}

#[cfg(test)]
mod tests;
