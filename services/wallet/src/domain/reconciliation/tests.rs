//! Orders and debits, in every relation to each other.

use domain::{Clock, Entropy};
use proptest::prelude::*;

use super::*;

const FEE: Paise = Paise::new(4_900);

struct Scene {
    id: OrderId,
    business: BusinessId,
    other: BusinessId,
    now: DateTime<Utc>,
}

fn scene() -> Scene {
    let (clock, entropy) =
        (Clock::manual(DateTime::UNIX_EPOCH + TimeDelta::days(20_000)), Entropy::seeded(4));
    let business = || BusinessId::generate(&clock, &entropy);
    let (business, other) = (business(), business());
    Scene { id: OrderId::generate(&clock, &entropy), business, other, now: clock.now() }
}

impl Scene {
    /// A placed live order.
    fn order(&self) -> OrderSide {
        OrderSide {
            business: self.business,
            mode: Mode::Live,
            placed: true,
            fee: FEE,
            cash: Some(Paise::ZERO),
            cash_status: None,
            delivered: false,
            refund_due: false,
            changed_at: self.now - TimeDelta::seconds(5),
        }
    }

    fn debit(&self, outcome: Outcome) -> DebitSide {
        let decided_at = self.now - TimeDelta::seconds(7);
        DebitSide { business: self.business, amount: FEE, outcome, decided_at }
    }

    fn books(&self, outcomes: &[Outcome], refunded: bool) -> BooksSide {
        let debits = outcomes.iter().map(|outcome| self.debit(*outcome)).collect();
        BooksSide { debits, refunded, cash: None }
    }

    /// The checks that fail, each with whether time may heal it.
    fn discrepancies(&self, order: Option<&OrderSide>, books: &BooksSide) -> Vec<(Check, bool)> {
        let discrepancies = compare(self.id, order, books);
        discrepancies
            .iter()
            .map(|discrepancy| (discrepancy.finding.check, discrepancy.awaited_since.is_some()))
            .collect()
    }
}

#[test]
fn orders_and_their_money_are_held_against_each_other() {
    use Outcome::{Posted, Rejected, Voided};
    let scene = scene();
    let placed = scene.order();
    let ended = OrderSide { refund_due: true, ..placed.clone() };
    let unplaced = OrderSide { placed: false, ..placed.clone() };
    let test = OrderSide { mode: Mode::Test, ..placed.clone() };
    type Case<'a> = (Option<&'a OrderSide>, BooksSide, &'a [(Check, bool)]);
    let cases: [Case<'_>; 17] = [
        (Some(&placed), scene.books(&[Posted], false), &[]),
        (Some(&placed), scene.books(&[Rejected, Voided, Posted], false), &[]),
        (Some(&ended), scene.books(&[Posted], true), &[]),
        (Some(&unplaced), scene.books(&[], false), &[]),
        (Some(&unplaced), scene.books(&[Rejected, Voided], false), &[]),
        (Some(&test), scene.books(&[], false), &[]),
        (None, scene.books(&[Voided], false), &[]),
        (Some(&placed), scene.books(&[], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&placed), scene.books(&[Rejected, Voided], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&ended), scene.books(&[], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&ended), scene.books(&[Posted], false), &[(Check::RefundMissing, true)]),
        (Some(&placed), scene.books(&[Posted], true), &[(Check::RefundNotDue, false)]),
        (Some(&unplaced), scene.books(&[Posted], false), &[(Check::DebitWithoutOrder, true)]),
        (None, scene.books(&[Posted], false), &[(Check::DebitWithoutOrder, false)]),
        (None, scene.books(&[], true), &[(Check::RefundNotDue, false)]),
        (Some(&test), scene.books(&[Rejected], false), &[(Check::TestOrderDebited, false)]),
        (
            Some(&unplaced),
            scene.books(&[Posted], true),
            &[(Check::DebitWithoutOrder, true), (Check::RefundNotDue, false)],
        ),
    ];
    for (order, books, wanted) in cases {
        assert_eq!(scene.discrepancies(order, &books), wanted, "{order:?} {books:?}");
    }
}

#[test]
fn another_amount_or_business_is_a_disagreement() {
    let scene = scene();
    let right = scene.debit(Outcome::Posted);
    let more = DebitSide { amount: Paise::new(4_901), ..right.clone() };
    let others = DebitSide { business: scene.other, ..right };
    for debit in [more, others] {
        let books = BooksSide { debits: vec![debit], ..BooksSide::default() };
        assert_eq!(
            scene.discrepancies(Some(&scene.order()), &books),
            [(Check::DebitDiffersFromOrder, false)]
        );
    }
}

#[test]
fn cash_is_what_its_order_is_to_bring() {
    let scene = scene();
    let to_bring = |paise: Option<i64>| OrderSide { cash: paise.map(Paise::new), ..scene.order() };
    let expected = |paise: Option<i64>| CashSide {
        business: scene.business,
        expected: paise.map(Paise::new),
        status: CodStatus::Pending,
    };
    let order = to_bring(Some(700));
    let elsewhere = OrderSide { business: scene.other, ..order.clone() };
    let unplaced = OrderSide { placed: false, ..order.clone() };
    let test = OrderSide { mode: Mode::Test, ..order.clone() };
    for (order, cash, is_right) in [
        (Some(&order), expected(Some(700)), true),
        (Some(&order), expected(None), true),
        (Some(&to_bring(None)), expected(Some(700)), true),
        (Some(&order), expected(Some(699)), false),
        (Some(&to_bring(Some(0))), expected(Some(700)), false),
        (Some(&order), CashSide { business: scene.other, ..expected(Some(700)) }, false),
        (Some(&elsewhere), expected(Some(700)), false),
        (Some(&unplaced), expected(Some(700)), false),
        (Some(&test), expected(None), false),
        (None, expected(None), false),
    ] {
        let books = BooksSide { cash: Some(cash), ..BooksSide::default() };
        let discrepancies = scene.discrepancies(order, &books);
        let found = discrepancies.contains(&(Check::CashDiffersFromOrder, false));
        assert_eq!(found, !is_right, "{order:?} {cash:?} {discrepancies:?}");
    }
}

#[test]
fn cash_is_as_far_in_the_books_as_by_its_order() {
    use CodStatus::{Collected, HandedOver, NotApplicable, Pending, Settled};
    let scene = scene();
    let order = |said: CodStatus| OrderSide { cash_status: Some(said), cash: None, ..scene.order() };
    let booked = |status: CodStatus| CashSide { business: scene.business, expected: None, status };
    let (missing, ahead) = ((Check::CashMissing, true), (Check::CashDiffersFromOrder, false));
    for (said, cash, wanted) in [
        (NotApplicable, None, None),
        (Pending, None, None),
        (Pending, Some(Pending), None),
        (Settled, Some(Settled), None),
        (Collected, None, Some(missing)),
        (Collected, Some(Pending), Some(missing)),
        (Settled, Some(HandedOver), Some(missing)),
        (Pending, Some(Collected), Some(ahead)),
        (HandedOver, Some(Settled), Some(ahead)),
    ] {
        let books = BooksSide { cash: cash.map(booked), ..scene.books(&[Outcome::Posted], false) };
        assert_eq!(
            scene.discrepancies(Some(&order(said)), &books),
            Vec::from_iter(wanted),
            "{said} {cash:?}"
        );
        let unsaid = OrderSide { cash_status: None, delivered: true, ..order(said) };
        assert_eq!(scene.discrepancies(Some(&unsaid), &books), [], "an order-api that does not say it");
    }
    // The books know the cash from the delivery on.
    for (said, cash, wanted) in [
        (Pending, None, Some(missing)),
        (Pending, Some(Pending), None),
        (NotApplicable, None, None),
        (Collected, Some(Collected), None),
    ] {
        let books = BooksSide { cash: cash.map(booked), ..scene.books(&[Outcome::Posted], false) };
        let delivered = OrderSide { delivered: true, ..order(said) };
        assert_eq!(scene.discrepancies(Some(&delivered), &books), Vec::from_iter(wanted), "{said} {cash:?}");
    }
}

#[test]
fn what_is_awaited_is_awaited_for_a_minute_from_its_cause() {
    let scene = scene();
    let unplaced = OrderSide { placed: false, ..scene.order() };
    let ended = OrderSide { refund_due: true, ..scene.order() };
    for (order, cause) in
        [(unplaced, scene.now - TimeDelta::seconds(7)), (ended, scene.now - TimeDelta::seconds(5))]
    {
        let discrepancies = compare(scene.id, Some(&order), &scene.books(&[Outcome::Posted], false));
        let [discrepancy] = discrepancies.as_slice() else { panic!("{discrepancies:?}") };
        assert_eq!(discrepancy.awaited_since, Some(cause));
        assert!(discrepancy.is_under_way(cause + UNDER_WAY - TimeDelta::microseconds(1)));
        assert!(!discrepancy.is_under_way(cause + UNDER_WAY));
    }
    let hard = compare(scene.id, Some(&scene.order()), &BooksSide::default());
    assert!(!hard[0].is_under_way(scene.now));
}

proptest! {
    /// Nothing is found exactly where the sentences of SPECIFICATION §14 hold, and a finding tells nothing personal.
    #[test]
    fn silence_means_that_order_and_money_agree(
        exists in any::<bool>(), live in any::<bool>(), placed in any::<bool>(), refund_due in any::<bool>(),
        refunded in any::<bool>(), posted in 0_usize..2, others in 0_usize..3, same_amount in any::<bool>(),
    ) {
        let scene = scene();
        let mode = if live { Mode::Live } else { Mode::Test };
        let order = OrderSide { mode, placed: placed || !live, refund_due, ..scene.order() };
        let order = exists.then_some(order);
        let amount = if same_amount { FEE } else { Paise::new(1) };
        let mut debits = vec![scene.debit(Outcome::Rejected); others];
        debits.extend(vec![DebitSide { amount, ..scene.debit(Outcome::Posted) }; posted]);
        let silent = compare(scene.id, order.as_ref(), &BooksSide { debits, refunded, cash: None }).is_empty();
        let agrees = match &order {
            None => posted == 0 && !refunded,
            Some(order) if order.mode == Mode::Test => posted + others == 0 && !refunded,
            Some(order) if !order.placed => posted == 0 && !refunded,
            Some(order) => posted == 1 && same_amount && refunded == order.refund_due,
        };
        prop_assert_eq!(silent, agrees);
    }
}
