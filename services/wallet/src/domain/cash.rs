//! Cash on delivery. The operator owes the cash to the business from its collection until its settlement. Each step is
//! booked with the reported amount, so that missing cash stays visible.

use chrono::{DateTime, Days, NaiveDate, Utc};
use domain::{BusinessId, OrderId, Paise, indian_time, start_of_indian_day};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::Line;
use super::ledger::Account;

/// A step that moves cash.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum CashStep {
    Collected,
    HandedOver,
    Settled,
}

impl CashStep {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The kind of its transfer in SQL.
    pub(crate) fn transfer_kind(self) -> &'static str {
        match self {
            Self::Collected => "cod_collected",
            Self::HandedOver => "cod_handed_over",
            Self::Settled => "cod_settled",
        }
    }

    /// The accounts that the cash moves into and out of.
    fn accounts(self) -> (Account, Account) {
        match self {
            Self::Collected => (Account::CodPayable, Account::CodWithDrivers),
            Self::HandedOver => (Account::CodWithDrivers, Account::CodWithOperator),
            Self::Settled => (Account::CodWithOperator, Account::CodPayable),
        }
    }
}

/// Both lines of a step's transfer; `None` for an amount of zero, which is not booked.
pub(crate) fn cash_lines(step: CashStep, amount: Paise) -> Option<[Line; 2]> {
    let opposite = amount.checked_neg().filter(|_| amount > Paise::ZERO)?;
    let (into, out_of) = step.accounts();
    let line = |account, amount| Line { account, amount, sequence: None, balance_after: None };
    Some([line(into, amount), line(out_of, opposite)])
}

/// An event about the cash of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CashReport {
    pub(crate) order: OrderId,
    pub(crate) business: BusinessId,
    pub(crate) order_reference: String,
    pub(crate) expected: Option<Paise>,
    pub(crate) at: DateTime<Utc>,
    /// `None` for a delivery: its cash is to be collected.
    pub(crate) step: Option<(CashStep, Paise)>,
}

/// The location of an order's cash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum CashStatus {
    /// The order is delivered; its cash is not yet reported as collected.
    Pending,
    Collected,
    HandedOver,
    Settled,
}

/// How far the operator is with a difference of the amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum DifferenceState {
    Open,
    /// Somebody clears it.
    Assigned,
    Closed,
}

/// One reported step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) amount: Paise,
    pub(crate) at: DateTime<Utc>,
}

/// The cash of one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CashRecord {
    pub(crate) order: OrderId,
    pub(crate) business: BusinessId,
    pub(crate) order_reference: String,
    pub(crate) expected: Option<Paise>,
    pub(crate) delivered_at: Option<DateTime<Utc>>,
    pub(crate) collected: Option<Reported>,
    pub(crate) handed_over: Option<Reported>,
    pub(crate) settled: Option<Reported>,
    pub(crate) due_since: DateTime<Utc>,
    pub(crate) discrepant: bool,
}

impl CashRecord {
    pub(crate) fn reported(&self, step: CashStep) -> Option<Reported> {
        match step {
            CashStep::Collected => self.collected,
            CashStep::HandedOver => self.handed_over,
            CashStep::Settled => self.settled,
        }
    }

    pub(crate) fn status(&self) -> CashStatus {
        match self {
            Self { settled: Some(_), .. } => CashStatus::Settled,
            Self { handed_over: Some(_), .. } => CashStatus::HandedOver,
            Self { collected: Some(_), .. } => CashStatus::Collected,
            _ => CashStatus::Pending,
        }
    }

    /// The latest amount that differs from the expected one, minus the expected one: negative when cash is missing. Without an
    /// expected amount, the first report is the expected one. `None` once the whole amount is settled and nothing is owed, as
    /// in order-api. `cash_difference` of the database is the same rule.
    pub(crate) fn difference(&self) -> Option<Paise> {
        let reports = [self.collected, self.handed_over, self.settled];
        let mut amounts = reports.into_iter().flatten().map(|reported| reported.amount);
        let expected = self.expected.or_else(|| amounts.next())?;
        if self.settled.is_some_and(|settled| settled.amount == expected) && self.lacks().is_none() {
            return None;
        }
        amounts.rfind(|amount| *amount != expected)?.checked_sub(expected)
    }

    /// What the operator owes for the order until it is settled, as in the totals of the store.
    pub(crate) fn owed(&self) -> Option<Paise> {
        let amount = |reported: Reported| reported.amount;
        self.collected.map(amount).or(self.expected).or(self.handed_over.map(amount))
    }

    /// What the payout of a settled order lacks. It is owed until somebody closes the discrepancy.
    pub(crate) fn lacks(&self) -> Option<Paise> {
        let lacks = self.owed()?.checked_sub(self.settled?.amount)?;
        (lacks > Paise::ZERO).then_some(lacks)
    }

    /// The amount that this step should have had, if it differs from `amount`: the amount of a previous step, or the
    /// expected one. Steps may arrive in any order, so previous ones may be missing.
    pub(crate) fn discrepancy(&self, step: CashStep, amount: Paise) -> Option<Paise> {
        let before = match step {
            CashStep::Collected => [None, None],
            CashStep::HandedOver => [self.collected, None],
            CashStep::Settled => [self.handed_over, self.collected],
        };
        let mut wanted = before.into_iter().flatten().map(|reported| reported.amount).chain(self.expected);
        wanted.find(|wanted| *wanted != amount)
    }
}

/// When the operator promises to pay out cash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CashTerms {
    /// From the day on which the delivery was reported, in India.
    pub(crate) settle_within: Days,
}

impl CashTerms {
    /// The last day for the settlement.
    pub(crate) fn promised_on(self, record: &CashRecord) -> NaiveDate {
        indian_time(record.due_since).date_naive() + self.settle_within
    }

    /// Cash that is due since an earlier time, and not settled, is late.
    pub(crate) fn late_before(self, now: DateTime<Utc>) -> DateTime<Utc> {
        start_of_indian_day(indian_time(now).date_naive() - self.settle_within)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use proptest::prelude::*;

    use super::*;

    fn record(expected: Option<i64>, collected: Option<i64>, handed_over: Option<i64>) -> CashRecord {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(6));
        let reported = |amount| Reported { amount: Paise::new(amount), at: DateTime::UNIX_EPOCH };
        CashRecord {
            order: OrderId::generate(&clock, &entropy),
            business: BusinessId::generate(&clock, &entropy),
            order_reference: "shop-1".into(),
            expected: expected.map(Paise::new),
            delivered_at: None,
            collected: collected.map(reported),
            handed_over: handed_over.map(reported),
            settled: None,
            due_since: DateTime::UNIX_EPOCH,
            discrepant: false,
        }
    }

    #[test]
    fn cash_is_late_from_the_day_after_the_promised_one() {
        let terms = CashTerms { settle_within: Days::new(7) };
        let time = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        // 1 February in India.
        let due = CashRecord { due_since: time("2026-01-31T18:30:00Z"), ..record(Some(100), None, None) };
        assert_eq!(terms.promised_on(&due), "2026-02-08".parse().unwrap());
        for (now, is_late) in [("2026-02-08T18:29:59Z", false), ("2026-02-08T18:30:00Z", true)] {
            assert_eq!(due.due_since < terms.late_before(time(now)), is_late, "{now}");
        }
    }

    proptest! {
        /// Both forms of the rule agree at any time.
        #[test]
        fn cash_is_late_when_its_promised_day_is_over(due in 0_i64..4_000_000, later in 0_i64..4_000_000, days in 1_u64..90) {
            let terms = CashTerms { settle_within: Days::new(days) };
            let at = |seconds: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(1_700_000_000 + seconds);
            let due = CashRecord { due_since: at(due), ..record(None, None, None) };
            let today = indian_time(at(later)).date_naive();
            prop_assert_eq!(due.due_since < terms.late_before(at(later)), terms.promised_on(&due) < today);
        }
    }

    #[test]
    fn each_step_is_compared_with_the_previous_one_and_the_order() {
        use CashStep::{Collected, HandedOver, Settled};
        for (record, step, amount, wanted) in [
            (record(Some(100), None, None), Collected, 100, None),
            (record(Some(100), None, None), Collected, 90, Some(100)),
            (record(Some(100), None, None), Collected, 0, Some(100)),
            (record(None, None, None), Collected, 90, None),
            (record(Some(100), Some(100), None), HandedOver, 100, None),
            (record(Some(100), Some(90), None), HandedOver, 90, Some(100)),
            (record(Some(100), Some(90), None), HandedOver, 100, Some(90)),
            (record(None, Some(90), None), HandedOver, 80, Some(90)),
            (record(Some(100), Some(100), Some(100)), Settled, 110, Some(100)),
            (record(Some(100), None, None), Settled, 100, None),
            (record(None, Some(100), Some(90)), Settled, 90, Some(100)),
            (record(Some(100), Some(110), Some(100)), Settled, 100, Some(110)),
        ] {
            assert_eq!(
                record.discrepancy(step, Paise::new(amount)),
                wanted.map(Paise::new),
                "{step} {amount}"
            );
        }
    }

    #[test]
    fn the_difference_is_that_of_the_latest_step_with_another_amount() {
        let settled = |record: CashRecord, amount| CashRecord {
            settled: Some(Reported { amount: Paise::new(amount), at: DateTime::UNIX_EPOCH }),
            ..record
        };
        for (record, difference) in [
            (record(Some(100), None, None), None),
            (record(Some(100), Some(100), Some(100)), None),
            (record(Some(100), Some(93), None), Some(-7)),
            (record(Some(100), Some(100), Some(80)), Some(-20)),
            (settled(record(Some(100), Some(100), Some(100)), 70), Some(-30)),
            (settled(record(Some(100), Some(90), Some(100)), 100), None),
            (settled(record(Some(100), Some(90), Some(90)), 100), None),
            (settled(record(Some(100), Some(90), Some(90)), 110), Some(10)),
            // What was collected is owed, also above the expected amount.
            (settled(record(Some(100), Some(110), Some(110)), 100), Some(10)),
            (settled(record(Some(100), Some(110), Some(100)), 100), Some(10)),
            (settled(record(None, Some(90), Some(80)), 90), None),
            (settled(record(Some(100), None, None), 110), Some(10)),
            (record(None, Some(90), Some(80)), Some(-10)),
            (record(None, Some(90), None), None),
        ] {
            assert_eq!(record.difference(), difference.map(Paise::new), "{record:?}");
        }
    }

    #[test]
    fn the_last_step_decides_where_cash_is() {
        use CashStep::{Collected, HandedOver, Settled};
        let at = |record: &CashRecord| {
            (
                record.status(),
                CashStep::VARIANTS
                    .iter()
                    .map(|step| record.reported(*step).map(|reported| reported.amount.get()))
                    .collect::<Vec<_>>(),
            )
        };
        let pending = record(Some(100), None, None);
        assert_eq!(at(&pending), (CashStatus::Pending, vec![None, None, None]));
        let collected = record(Some(100), Some(90), None);
        assert_eq!(at(&collected), (CashStatus::Collected, vec![Some(90), None, None]));
        let handed_over = record(Some(100), Some(90), Some(80));
        assert_eq!(at(&handed_over), (CashStatus::HandedOver, vec![Some(90), Some(80), None]));
        let settled = Some(Reported { amount: Paise::new(70), at: DateTime::UNIX_EPOCH });
        let settled = CashRecord { settled, ..pending };
        assert_eq!(at(&settled), (CashStatus::Settled, vec![None, None, Some(70)]));
        for (step, name, kind) in [
            (Collected, "collected", "cod_collected"),
            (HandedOver, "handed_over", "cod_handed_over"),
            (Settled, "settled", "cod_settled"),
        ] {
            assert_eq!((step.as_str(), step.transfer_kind()), (name, kind));
        }
    }

    proptest! {
        /// For any reports in any order: the debt to the business equals the cash of drivers and operator plus the paid
        /// out cash, and an amount is a discrepancy exactly when another amount contradicts it.
        #[test]
        fn any_reports_keep_the_cash_accounts_balanced(
            reports in proptest::collection::vec((0_usize..3, 0_i64..1_000), 0..20),
            expected in proptest::option::of(0_i64..1_000),
        ) {
            let mut sums = std::collections::HashMap::new();
            let mut record = record(expected, None, None);
            for (step, amount) in reports {
                let step = CashStep::VARIANTS[step];
                let paise = Paise::new(amount);
                let before = match step {
                    CashStep::Collected => [None, None],
                    CashStep::HandedOver => [record.collected, None],
                    CashStep::Settled => [record.collected, record.handed_over],
                };
                let before = before.into_iter().flatten().map(|before| before.amount.get());
                let wanted: Vec<i64> = before.chain(expected).collect();
                let differs = wanted.iter().any(|wanted| *wanted != amount);
                prop_assert_eq!(record.discrepancy(step, paise).is_some(), differs);
                prop_assert_ne!(record.discrepancy(step, paise), Some(paise));
                let lines = cash_lines(step, paise);
                prop_assert_eq!(lines.is_none(), amount == 0);
                for line in lines.into_iter().flatten() {
                    prop_assert!(line.sequence.is_none() && line.balance_after.is_none());
                    *sums.entry(line.account).or_insert(0) += line.amount.get();
                }
                let reported = Some(Reported { amount: paise, at: DateTime::UNIX_EPOCH });
                match step {
                    CashStep::Collected => record.collected = reported,
                    CashStep::HandedOver => record.handed_over = reported,
                    CashStep::Settled => record.settled = reported,
                }
                prop_assert_eq!(record.reported(step), reported);
            }
            prop_assert_eq!(sums.values().sum::<i64>(), 0);
            prop_assert!(!sums.contains_key(&Account::BusinessWallet));
        }
    }

    #[test]
    fn a_whole_journey_leaves_every_account_as_it_was() {
        let mut sums = std::collections::HashMap::new();
        for step in CashStep::VARIANTS {
            let lines = cash_lines(*step, Paise::new(700)).unwrap();
            assert_eq!(lines[0].amount.checked_add(lines[1].amount), Some(Paise::ZERO));
            for line in lines {
                *sums.entry(line.account).or_insert(0) += line.amount.get();
            }
            // What the drivers and the operator hold is what the business is owed.
            let of = |account| sums.get(&account).copied().unwrap_or_default();
            let held = -of(Account::CodWithDrivers) - of(Account::CodWithOperator);
            assert_eq!(held, of(Account::CodPayable), "{step}");
        }
        assert!(sums.values().all(|sum| *sum == 0), "{sums:?}");
        assert_eq!(cash_lines(CashStep::Collected, Paise::ZERO), None);
        assert_eq!(cash_lines(CashStep::Collected, Paise::new(-1)), None);
    }
}
