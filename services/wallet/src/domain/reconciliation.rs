//! What must hold of the books and the orders (SPECIFICATION §14), by name, and whether an order and its money agree.

use std::cmp::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, CodStatus, Mode, OrderId, Paise};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::Outcome;

/// What can be found. The names are those in metrics, logs and the database.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Check {
    /// A wallet does not stand where its newest entry says, or stands below zero.
    WalletBalanceWrong,
    /// The entries of a transfer do not sum to zero.
    TransferUnbalanced,
    /// A transfer has not exactly the two entries of its kind, in its own business's accounts.
    TransferWrongAccounts,
    EntryWithoutTransfer,
    /// An entry does not follow from the one before it in its wallet.
    WalletChainBroken,
    /// A fee without a posted debit of the same order, business and amount.
    FeeWithoutDebit,
    /// A refund that does not take back the fee of its order.
    RefundWrong,
    RefundRepeated,
    /// A transfer of a top-up that did not succeed by it, or by another amount.
    TopUpWrong,
    CreditRepeated,
    /// A transfer of cash that was not reported so.
    CashWrong,
    DebitRepeated,
    /// A posted debit without the transfer of the same order, business and amount.
    DebitWithoutFee,
    /// Cash that was reported, or none, and not booked so.
    CashNotBooked,
    TopUpNotBooked,
    /// A placed live order without a posted debit.
    OrderWithoutDebit,
    /// A posted debit of another amount or business than its order's.
    DebitDiffersFromOrder,
    /// A posted debit whose order is not there, or not placed.
    DebitWithoutOrder,
    RefundMissing,
    RefundNotDue,
    TestOrderDebited,
    /// Cash of another business than its order's, or of another amount than is to be collected, or of an order that is not
    /// there, not placed, or a test.
    CashDiffersFromOrder,
    /// Cash that is to be collected, or moved on, by its order, and has not in the books.
    CashMissing,
}

impl Check {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Something that must not be. Made of ids, kinds and amounts alone: it is logged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    /// The id of the transfer, order, top-up or business that it is about.
    pub(crate) subject: String,
    pub(crate) detail: String,
}

/// Longer than a step between the services takes: recovery finishes orders after 6 s, and an event crosses the broker
/// within seconds.
pub(crate) const UNDER_WAY: TimeDelta = TimeDelta::seconds(60);

/// What order-api says of an order.
#[derive(Clone, Debug)]
pub(crate) struct OrderSide {
    pub(crate) business: BusinessId,
    pub(crate) mode: Mode,
    pub(crate) placed: bool,
    pub(crate) fee: Paise,
    /// The cash to be collected; unknown where order-api does not say it yet.
    pub(crate) cash: Option<Paise>,
    /// Where that cash is; unknown where order-api does not say it yet.
    pub(crate) cash_status: Option<CodStatus>,
    /// The books know its cash from then on; false where order-api does not say it yet.
    pub(crate) delivered: bool,
    pub(crate) refund_due: bool,
    pub(crate) changed_at: DateTime<Utc>,
}

/// A debit of the order, as the books have it.
#[derive(Clone, Debug)]
pub(crate) struct DebitSide {
    pub(crate) business: BusinessId,
    pub(crate) amount: Paise,
    pub(crate) outcome: Outcome,
    pub(crate) decided_at: DateTime<Utc>,
}

/// The cash of the order, as the books have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CashSide {
    pub(crate) business: BusinessId,
    /// Unknown where no event has told it yet.
    pub(crate) expected: Option<Paise>,
    /// How far it has come.
    pub(crate) status: CodStatus,
}

/// What the books say of an order.
#[derive(Clone, Debug, Default)]
pub(crate) struct BooksSide {
    pub(crate) debits: Vec<DebitSide>,
    pub(crate) refunded: bool,
    pub(crate) cash: Option<CashSide>,
}

/// A disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discrepancy {
    pub(crate) finding: Finding,
    /// Where what is missing may still be under way: since when.
    pub(crate) awaited_since: Option<DateTime<Utc>>,
}

impl Discrepancy {
    /// Whether it is too early to call it a finding.
    pub(crate) fn is_under_way(&self, now: DateTime<Utc>) -> bool {
        self.awaited_since.is_some_and(|since| now - since < UNDER_WAY)
    }
}

/// Where an order and its money disagree. The two sides were not read in the same instant, so a disagreement is looked at
/// once more before it is believed.
pub(crate) fn compare(id: OrderId, order: Option<&OrderSide>, books: &BooksSide) -> Vec<Discrepancy> {
    let mut discrepancies = Vec::new();
    let mut discrepancy = |check, detail: String, awaited_since| {
        let finding = Finding { check, subject: id.to_string(), detail };
        discrepancies.push(Discrepancy { finding, awaited_since });
    };
    let posted = books.debits.iter().find(|debit| debit.outcome == Outcome::Posted);
    let told = |debit: &DebitSide| format!("a debit of {} paise of {}", debit.amount.get(), debit.business);
    let placed = order.filter(|order| order.placed && order.mode == Mode::Live);
    match (order, posted) {
        (Some(OrderSide { mode: Mode::Test, .. }), _) => {
            for debit in &books.debits {
                discrepancy(Check::TestOrderDebited, format!("{}, {}", told(debit), debit.outcome), None);
            }
        }
        (None, Some(debit)) => {
            discrepancy(Check::DebitWithoutOrder, format!("{}; there is no such order", told(debit)), None);
        }
        (Some(order), Some(debit)) if !order.placed => {
            let detail = format!("{}; the order is not placed", told(debit));
            discrepancy(Check::DebitWithoutOrder, detail, Some(debit.decided_at));
        }
        (Some(order), Some(debit)) if (order.business, order.fee) != (debit.business, debit.amount) => {
            let wanted = format!("the order is of {} paise of {}", order.fee.get(), order.business);
            discrepancy(Check::DebitDiffersFromOrder, format!("{}; {wanted}", told(debit)), None);
        }
        (Some(order), None) if order.placed => {
            let detail = format!("{} paise of {}", order.fee.get(), order.business);
            discrepancy(Check::OrderWithoutDebit, detail, None);
        }
        _ => {}
    }
    match (placed.filter(|order| order.refund_due), posted, books.refunded) {
        (Some(order), Some(debit), false) => {
            discrepancy(Check::RefundMissing, told(debit), Some(order.changed_at));
        }
        (None, _, true) => {
            discrepancy(Check::RefundNotDue, "its delivery did not end before the pickup".into(), None)
        }
        _ => {}
    }
    if let Some((check, detail, awaited_since)) = cash_doubt(placed, books.cash) {
        discrepancy(check, detail, awaited_since);
    }
    discrepancies
}

/// Where an order and the books disagree on its cash: on whose it is and how much, or on how far it has come. An order is
/// placed long before it is delivered, and moves before the books hear of it; only what the books lack may be under way.
fn cash_doubt(
    placed: Option<&OrderSide>,
    cash: Option<CashSide>,
) -> Option<(Check, String, Option<DateTime<Utc>>)> {
    let paise = |amount: Option<Paise>| {
        amount.map_or_else(|| "unknown".to_owned(), |amount| format!("{} paise", amount.get()))
    };
    if let Some(cash) = cash.filter(|cash| !agrees(*cash, placed)) {
        let of_order = placed.map_or_else(
            || "there is no such placed live order".to_owned(),
            |order| format!("the order is of {} of {}", paise(order.cash), order.business),
        );
        let detail = format!("{} expected of {}; {of_order}", paise(cash.expected), cash.business);
        return Some((Check::CashDiffersFromOrder, detail, None));
    }
    let order = placed?;
    let said = order.cash_status?;
    let booked = cash.map(|cash| cash.status);
    let detail = || {
        let booked = booked.map_or_else(|| "none".to_owned(), |status| status.to_string());
        format!("{said} by its order; {booked} in the books")
    };
    if booked.is_none() && order.delivered && said != CodStatus::NotApplicable {
        return Some((Check::CashMissing, detail(), Some(order.changed_at)));
    }
    match steps(said).cmp(&booked.map_or(0, steps)) {
        Ordering::Equal => None,
        Ordering::Less => Some((Check::CashDiffersFromOrder, detail(), None)),
        Ordering::Greater => Some((Check::CashMissing, detail(), Some(order.changed_at))),
    }
}

/// How often the cash has moved.
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
        let differs = cash.expected.zip(order.cash).is_some_and(|(expected, wanted)| expected != wanted);
        order.business == cash.business && !differs
    })
}

#[cfg(test)]
mod tests;
