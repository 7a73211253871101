//! Remittances: one bank transfer pays out the cash of many orders. Each order is settled with the amount that was handed
//! over. Another amount needs a note, and stays visible as a discrepancy.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, NaiveDate, Utc};
use domain::{BusinessId, OrderId, Paise, RemittanceId, composed};

use super::CashRecord;

/// Orders of a remittance: with it, requests stay below the limit of values, and the transaction takes less than a second.
pub(crate) const ORDERS_MAX: usize = 2_000;
/// A line that pays more than so many times what was handed over, or is owed, is likely in paise. No note explains that.
const TIMES_HANDED_OVER_MAX: i64 = 10;

/// How the operator names an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OrderName {
    Id(OrderId),
    /// The business's reference, in Unicode's composed form.
    Reference(String),
}

impl From<&str> for OrderName {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Reference(composed(text).into_owned()), Self::Id)
    }
}

/// An order that a remittance is to settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedOrder {
    pub(crate) name: OrderName,
    /// `None`: what was handed over.
    pub(crate) amount: Option<Paise>,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct NewRemittance {
    pub(crate) business: BusinessId,
    pub(crate) bank_reference: String,
    pub(crate) paid_on: NaiveDate,
    pub(crate) created_by: String,
    pub(crate) orders: Vec<WantedOrder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remittance {
    pub(crate) id: RemittanceId,
    pub(crate) business: BusinessId,
    pub(crate) bank_reference: String,
    pub(crate) paid_on: NaiveDate,
    pub(crate) order_count: i64,
    pub(crate) total: Paise,
    pub(crate) created_by: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// An order of a remittance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemittedOrder {
    pub(crate) order: OrderId,
    pub(crate) order_reference: String,
    pub(crate) handed_over: Paise,
    /// To the business, before this remittance.
    pub(crate) owed: Paise,
    pub(crate) amount: Paise,
    pub(crate) note: Option<String>,
}

impl RemittedOrder {
    /// Whether it pays another amount than what was handed over, or than what is owed.
    pub(crate) fn differs(&self) -> bool {
        self.amount != self.handed_over || self.amount != self.owed
    }
}

/// Why an order cannot be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OrderRefusal {
    /// The business has no such order with cash. Of a reference: none whose cash is to be settled, or was settled lately.
    Unknown,
    /// Another line names the same order.
    Repeated,
    NotHandedOver,
    AlreadySettled {
        /// Of the remittance that paid it.
        bank_reference: Option<String>,
        lacks: Option<Paise>,
    },
    /// Nothing was handed over, and the line names no amount.
    NothingHandedOver,
    /// The amount is far above this one.
    FarAbove(Paise),
    /// The amount differs from this one without a note.
    NoteMissing(Paise),
}

/// What a remittance would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemittancePlan {
    pub(crate) accepted: Vec<RemittedOrder>,
    /// By their position in the request.
    pub(crate) refused: Vec<(usize, OrderRefusal)>,
}

impl RemittancePlan {
    /// Far below an overflow: of at most [`ORDERS_MAX`] orders, each at most [`Paise::REQUEST_MAX`].
    pub(crate) fn total(&self) -> Paise {
        Paise::new(self.accepted.iter().map(|order| order.amount.get()).sum())
    }

    /// `paid` are the remittances of settled orders.
    pub(crate) fn of(
        wanted: &[WantedOrder],
        cash: &[CashRecord],
        paid: &BTreeMap<OrderId, Remittance>,
    ) -> Self {
        let by_name =
            by_name(cash.iter().map(|record| (record.order, record.order_reference.as_str(), record)));
        let mut plan = Self::default();
        let mut seen = HashSet::new();
        for (position, line) in wanted.iter().enumerate() {
            let decided = match by_name.get(&line.name) {
                None => Err(OrderRefusal::Unknown),
                Some(record) if !seen.insert(record.order) => Err(OrderRefusal::Repeated),
                Some(record) if record.settled.is_some() => {
                    let bank_reference = paid.get(&record.order).map(|by| by.bank_reference.clone());
                    Err(OrderRefusal::AlreadySettled { bank_reference, lacks: record.lacks() })
                }
                Some(record) => settle(line, record),
            };
            match decided {
                Ok(order) => plan.accepted.push(order),
                Err(refusal) => plan.refused.push((position, refusal)),
            }
        }
        plan
    }
}

fn settle(line: &WantedOrder, record: &CashRecord) -> Result<RemittedOrder, OrderRefusal> {
    let handed_over = record.handed_over.ok_or(OrderRefusal::NotHandedOver)?.amount;
    let amount = line.amount.unwrap_or(handed_over);
    if amount <= Paise::ZERO {
        return Err(OrderRefusal::NothingHandedOver);
    }
    let owed = record.owed().unwrap_or(handed_over);
    let largest = handed_over.max(owed).max(record.expected.unwrap_or_default());
    let plausible = largest.get().saturating_mul(TIMES_HANDED_OVER_MAX);
    if handed_over > Paise::ZERO && amount.get() > plausible {
        return Err(OrderRefusal::FarAbove(handed_over));
    }
    if amount != handed_over && line.note.is_none() {
        return Err(OrderRefusal::NoteMissing(handed_over));
    }
    let (order_reference, note) = (record.order_reference.clone(), line.note.clone());
    Ok(RemittedOrder { order: record.order, order_reference, handed_over, owed, amount, note })
}

/// Whether a request has the content of a stored remittance.
pub(crate) fn is_repetition(request: &NewRemittance, stored: &Remittance, orders: &[RemittedOrder]) -> bool {
    let by_name = by_name(orders.iter().map(|order| (order.order, order.order_reference.as_str(), order)));
    let mut same = HashSet::new();
    for line in &request.orders {
        match by_name.get(&line.name) {
            Some(order)
                if line.amount.unwrap_or(order.handed_over) == order.amount && line.note == order.note =>
            {
                same.insert(order.order);
            }
            _ => return false,
        }
    }
    request.paid_on == stored.paid_on && same.len() == orders.len() && request.orders.len() == orders.len()
}

/// Each by its id and by its reference.
fn by_name<'a, T>(all: impl Iterator<Item = (OrderId, &'a str, &'a T)>) -> HashMap<OrderName, &'a T> {
    let names = |(id, reference, of): (OrderId, &str, &'a T)| {
        [(OrderName::Id(id), of), (OrderName::Reference(composed(reference).into_owned()), of)]
    };
    all.flat_map(names).collect()
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use proptest::prelude::*;

    use super::super::Reported;
    use super::*;

    struct Scene {
        business: BusinessId,
        clock: Clock,
        entropy: Entropy,
    }

    fn scene() -> Scene {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(9));
        Scene { business: BusinessId::generate(&clock, &entropy), clock, entropy }
    }

    impl Scene {
        fn cash(&self, reference: &str, handed_over: Option<i64>, settled: Option<i64>) -> CashRecord {
            let reported = |amount| Reported { amount: Paise::new(amount), at: self.clock.now() };
            CashRecord {
                order: OrderId::generate(&self.clock, &self.entropy),
                business: self.business,
                order_reference: reference.into(),
                expected: Some(Paise::new(100)),
                delivered_at: None,
                collected: Some(reported(100)),
                handed_over: handed_over.map(reported),
                settled: settled.map(reported),
                due_since: self.clock.now(),
                discrepant: false,
            }
        }
    }

    fn line(name: &str, amount: Option<i64>, note: Option<&str>) -> WantedOrder {
        WantedOrder { name: name.into(), amount: amount.map(Paise::new), note: note.map(Into::into) }
    }

    #[test]
    fn every_line_is_decided_and_every_refusal_named() {
        let scene = scene();
        let cash = [
            scene.cash("a", Some(100), None),
            scene.cash("b", Some(100), Some(100)),
            scene.cash("c", None, None),
            scene.cash("d", Some(90), None),
            scene.cash("e", Some(0), None),
            scene.cash("n\u{303}", Some(70), None),
        ];
        let by_id = cash[0].order.to_string();
        let plan = RemittancePlan::of(
            &[
                line(&by_id, None, None),
                line("a", Some(100), None),
                line("b", None, None),
                line("c", None, None),
                line("d", Some(80), None),
                line("e", None, None),
                line("x", None, None),
                line("\u{f1}", Some(60), Some("bank fee")),
            ],
            &cash,
            &BTreeMap::new(),
        );
        let refused = [
            (1, OrderRefusal::Repeated),
            (2, OrderRefusal::AlreadySettled { bank_reference: None, lacks: None }),
            (3, OrderRefusal::NotHandedOver),
            (4, OrderRefusal::NoteMissing(Paise::new(90))),
            (5, OrderRefusal::NothingHandedOver),
            (6, OrderRefusal::Unknown),
        ];
        assert_eq!(plan.refused, refused);
        let accepted: Vec<_> = plan.accepted.iter().map(|order| (order.order, order.amount.get())).collect();
        assert_eq!(accepted, [(cash[0].order, 100), (cash[5].order, 60)]);
        assert_eq!((plan.total().get(), plan.accepted[1].note.as_deref()), (160, Some("bank fee")));
    }

    #[test]
    fn a_line_far_above_what_was_handed_over_is_refused_with_any_note() {
        let scene = scene();
        // The scene's order is of 100.
        for (handed_over, amount, is_refused) in [
            (75_975, 7_597_500, true),
            (100, 1_001, true),
            (100, 1_000, false),
            (5, 100, false),
            (0, 1_001, false),
        ] {
            let cash = scene.cash("a", Some(handed_over), None);
            let plan = RemittancePlan::of(&[line("a", Some(amount), Some("why"))], &[cash], &BTreeMap::new());
            let refusal = (0, OrderRefusal::FarAbove(Paise::new(handed_over)));
            assert_eq!(plan.refused.contains(&refusal), is_refused, "{handed_over} {amount}");
            assert_eq!(plan.accepted.is_empty(), is_refused, "{handed_over} {amount}");
        }
    }

    #[test]
    fn an_order_differs_if_its_amount_is_not_all_that_is_owed() {
        let scene = scene();
        let reported = |amount| Reported { amount: Paise::new(amount), at: scene.clock.now() };
        for (expected, collected, handed_over, amount, differs) in [
            (Some(100), Some(100), 100, None, false),
            (Some(100), Some(100), 90, None, true),
            (Some(100), Some(100), 90, Some(100), true),
            (Some(100), Some(90), 90, None, false),
            (Some(100), None, 90, None, true),
            (None, Some(100), 90, None, true),
            (None, None, 90, None, false),
        ] {
            let cash = CashRecord {
                expected: expected.map(Paise::new),
                collected: collected.map(reported),
                ..scene.cash("a", Some(handed_over), None)
            };
            let plan = RemittancePlan::of(&[line("a", amount, Some("why"))], &[cash], &BTreeMap::new());
            let seen: Vec<_> = plan.accepted.iter().map(RemittedOrder::differs).collect();
            assert_eq!(seen, [differs], "{expected:?} {collected:?} {handed_over} {amount:?}");
        }
    }

    #[test]
    fn the_refusal_of_a_settled_order_names_what_it_lacks() {
        let scene = scene();
        for (handed_over, settled, lacks) in
            [(100, 100, None), (90, 90, Some(10)), (100, 90, Some(10)), (100, 110, None)]
        {
            let cash = scene.cash("a", Some(handed_over), Some(settled));
            let plan = RemittancePlan::of(&[line("a", None, None)], &[cash], &BTreeMap::new());
            let lacks = lacks.map(Paise::new);
            let refused = OrderRefusal::AlreadySettled { bank_reference: None, lacks };
            assert_eq!(plan.refused, [(0, refused)], "{handed_over} {settled}");
        }
    }

    #[test]
    fn only_the_same_content_is_a_repetition() {
        let scene = scene();
        let cash = [scene.cash("a", Some(100), None), scene.cash("b", Some(90), None)];
        let day = NaiveDate::default();
        let request = |orders: Vec<WantedOrder>, paid_on| NewRemittance {
            business: scene.business,
            bank_reference: "UTR 1".into(),
            paid_on,
            created_by: "Asha".into(),
            orders,
        };
        let lines = vec![line("a", None, None), line("b", Some(80), Some("short"))];
        let orders = RemittancePlan::of(&lines, &cash, &BTreeMap::new()).accepted;
        let stored = Remittance {
            id: RemittanceId::generate(&scene.clock, &scene.entropy),
            business: scene.business,
            bank_reference: "UTR 1".into(),
            paid_on: day,
            order_count: 2,
            total: Paise::new(180),
            created_by: "Ravi".into(),
            created_at: scene.clock.now(),
        };
        let (a, b) = (cash[0].order.to_string(), cash[1].order.to_string());
        for (lines, paid_on, is_same) in [
            (lines.clone(), day, true),
            (vec![line(&b, Some(80), Some("short")), line(&a, Some(100), None)], day, true),
            (lines.clone(), day.succ_opt().unwrap(), false),
            (vec![line("a", None, None)], day, false),
            (vec![line("a", None, None), line("a", None, None)], day, false),
            (
                vec![line("a", None, None), line(&a, None, None), line("b", Some(80), Some("short"))],
                day,
                false,
            ),
            (vec![line("a", None, None), line("b", Some(80), None)], day, false),
            (vec![line("a", None, None), line("b", None, None)], day, false),
            (vec![line("a", Some(99), None), line("b", Some(80), Some("short"))], day, false),
            (vec![line("a", None, None), line("c", Some(80), Some("short"))], day, false),
        ] {
            let description = format!("{lines:?} {paid_on}");
            assert_eq!(is_repetition(&request(lines, paid_on), &stored, &orders), is_same, "{description}");
        }
    }

    proptest! {
        /// For any cash and lines: a line is accepted or refused, no order twice, only cash that was handed over and not
        /// settled, and another amount only with a note. The total is the sum of the accepted lines.
        #[test]
        fn any_lines_settle_each_order_at_most_once(
            cash in proptest::collection::vec((proptest::option::of(0_i64..200), proptest::option::of(0_i64..200)), 1..8),
            lines in proptest::collection::vec((0_usize..9, proptest::option::of(1_i64..200), any::<bool>()), 0..20),
        ) {
            let scene = scene();
            let records: Vec<_> = cash.iter().enumerate()
                .map(|(index, (handed_over, settled))| scene.cash(&index.to_string(), *handed_over, *settled))
                .collect();
            let wanted: Vec<_> = lines.iter()
                .map(|(index, amount, noted)| line(&index.to_string(), *amount, noted.then_some("why")))
                .collect();
            let plan = RemittancePlan::of(&wanted, &records, &BTreeMap::new());
            prop_assert_eq!(plan.accepted.len() + plan.refused.len(), wanted.len());
            let ids: HashSet<_> = plan.accepted.iter().map(|order| order.order).collect();
            prop_assert_eq!(ids.len(), plan.accepted.len());
            for order in &plan.accepted {
                let record = records.iter().find(|record| record.order == order.order).unwrap();
                prop_assert!(record.settled.is_none() && order.amount > Paise::ZERO);
                prop_assert_eq!(record.handed_over.map(|reported| reported.amount), Some(order.handed_over));
                prop_assert!(order.amount == order.handed_over || order.note.is_some());
            }
            prop_assert_eq!(plan.total().get(), plan.accepted.iter().map(|order| order.amount.get()).sum::<i64>());
        }
    }
}
