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
            cash: Paise::ZERO,
            cash_status: CodStatus::NotApplicable,
            delivered: false,
            refund_due: false,
            changed_at: self.now - TimeDelta::seconds(5),
        }
    }

    fn debit(&self, outcome: Outcome) -> DebitSide {
        let decided_at = self.now - TimeDelta::seconds(7);
        DebitSide { business: self.business, amount: FEE, outcome, decided_at }
    }

    fn ledger(&self, outcomes: &[Outcome], refunded: bool) -> LedgerSide {
        let debits = outcomes.iter().map(|outcome| self.debit(*outcome)).collect();
        LedgerSide { debits, refunded, cash: None }
    }

    /// The broken rules, each with whether it may be under way.
    fn discrepancies(&self, order: Option<&OrderSide>, ledger: &LedgerSide) -> Vec<(Check, bool)> {
        let discrepancies = compare(self.id, order, ledger);
        discrepancies
            .iter()
            .map(|discrepancy| (discrepancy.finding.check, discrepancy.awaited_since.is_some()))
            .collect()
    }
}

#[test]
fn orders_are_compared_with_their_money() {
    use Outcome::{Posted, Rejected, Voided};
    let scene = scene();
    let placed = scene.order();
    let ended = OrderSide { refund_due: true, ..placed.clone() };
    let unplaced = OrderSide { placed: false, ..placed.clone() };
    let test = OrderSide { mode: Mode::Test, ..placed.clone() };
    type Case<'a> = (Option<&'a OrderSide>, LedgerSide, &'a [(Check, bool)]);
    let cases: [Case<'_>; 17] = [
        (Some(&placed), scene.ledger(&[Posted], false), &[]),
        (Some(&placed), scene.ledger(&[Rejected, Voided, Posted], false), &[]),
        (Some(&ended), scene.ledger(&[Posted], true), &[]),
        (Some(&unplaced), scene.ledger(&[], false), &[]),
        (Some(&unplaced), scene.ledger(&[Rejected, Voided], false), &[]),
        (Some(&test), scene.ledger(&[], false), &[]),
        (None, scene.ledger(&[Voided], false), &[]),
        (Some(&placed), scene.ledger(&[], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&placed), scene.ledger(&[Rejected, Voided], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&ended), scene.ledger(&[], false), &[(Check::OrderWithoutDebit, false)]),
        (Some(&ended), scene.ledger(&[Posted], false), &[(Check::RefundMissing, true)]),
        (Some(&placed), scene.ledger(&[Posted], true), &[(Check::RefundNotDue, false)]),
        (Some(&unplaced), scene.ledger(&[Posted], false), &[(Check::DebitWithoutOrder, true)]),
        (None, scene.ledger(&[Posted], false), &[(Check::DebitWithoutOrder, false)]),
        (None, scene.ledger(&[], true), &[(Check::RefundNotDue, false)]),
        (Some(&test), scene.ledger(&[Rejected], false), &[(Check::TestOrderDebited, false)]),
        (
            Some(&unplaced),
            scene.ledger(&[Posted], true),
            &[(Check::DebitWithoutOrder, true), (Check::RefundNotDue, false)],
        ),
    ];
    for (order, ledger, wanted) in cases {
        assert_eq!(scene.discrepancies(order, &ledger), wanted, "{order:?} {ledger:?}");
    }
}

#[test]
fn another_amount_or_business_is_a_disagreement() {
    let scene = scene();
    let right = scene.debit(Outcome::Posted);
    let more = DebitSide { amount: Paise::new(4_901), ..right.clone() };
    let others = DebitSide { business: scene.other, ..right };
    for debit in [more, others] {
        let ledger = LedgerSide { debits: vec![debit], ..LedgerSide::default() };
        assert_eq!(
            scene.discrepancies(Some(&scene.order()), &ledger),
            [(Check::DebitDiffersFromOrder, false)]
        );
    }
}

#[test]
fn cash_is_compared_with_its_order() {
    let scene = scene();
    let to_bring = |paise: i64| OrderSide { cash: Paise::new(paise), ..scene.order() };
    let expected = |paise: Option<i64>| CashSide {
        business: scene.business,
        expected: paise.map(Paise::new),
        status: CodStatus::Pending,
        remitted_at: None,
    };
    let order = to_bring(700);
    let elsewhere = OrderSide { business: scene.other, ..order.clone() };
    let unplaced = OrderSide { placed: false, ..order.clone() };
    let test = OrderSide { mode: Mode::Test, ..order.clone() };
    for (order, cash, is_right) in [
        (Some(&order), expected(Some(700)), true),
        (Some(&order), expected(None), true),
        (Some(&order), expected(Some(699)), false),
        (Some(&to_bring(0)), expected(Some(700)), false),
        (Some(&order), CashSide { business: scene.other, ..expected(Some(700)) }, false),
        (Some(&elsewhere), expected(Some(700)), false),
        (Some(&unplaced), expected(Some(700)), false),
        (Some(&test), expected(None), false),
        (None, expected(None), false),
    ] {
        let ledger = LedgerSide { cash: Some(cash), ..LedgerSide::default() };
        let discrepancies = scene.discrepancies(order, &ledger);
        let found = discrepancies.contains(&(Check::CashDiffersFromOrder, false));
        assert_eq!(found, !is_right, "{order:?} {cash:?} {discrepancies:?}");
    }
}

#[test]
fn cash_has_the_status_of_its_order() {
    use CodStatus::{Collected, HandedOver, NotApplicable, Pending, Settled};
    let scene = scene();
    let order = |said: CodStatus| OrderSide { cash_status: said, ..scene.order() };
    let booked =
        |status: CodStatus| CashSide { business: scene.business, expected: None, status, remitted_at: None };
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
        let ledger = LedgerSide { cash: cash.map(booked), ..scene.ledger(&[Outcome::Posted], false) };
        assert_eq!(
            scene.discrepancies(Some(&order(said)), &ledger),
            Vec::from_iter(wanted),
            "{said} {cash:?}"
        );
    }
    // The ledger knows the cash from the delivery on.
    for (said, cash, wanted) in [
        (Pending, None, Some(missing)),
        (Pending, Some(Pending), None),
        (NotApplicable, None, None),
        (Collected, Some(Collected), None),
    ] {
        let ledger = LedgerSide { cash: cash.map(booked), ..scene.ledger(&[Outcome::Posted], false) };
        let delivered = OrderSide { delivered: true, ..order(said) };
        assert_eq!(scene.discrepancies(Some(&delivered), &ledger), Vec::from_iter(wanted), "{said} {cash:?}");
    }
}

#[test]
fn a_missing_step_is_under_way_for_a_minute() {
    let scene = scene();
    let unplaced = OrderSide { placed: false, ..scene.order() };
    let ended = OrderSide { refund_due: true, ..scene.order() };
    for (order, cause) in
        [(unplaced, scene.now - TimeDelta::seconds(7)), (ended, scene.now - TimeDelta::seconds(5))]
    {
        let discrepancies = compare(scene.id, Some(&order), &scene.ledger(&[Outcome::Posted], false));
        let [discrepancy] = discrepancies.as_slice() else { panic!("{discrepancies:?}") };
        assert_eq!(discrepancy.awaited_since, Some(cause));
        assert!(discrepancy.is_under_way(cause + UNDER_WAY_MAX - TimeDelta::microseconds(1)));
        assert!(!discrepancy.is_under_way(cause + UNDER_WAY_MAX));
    }
    let hard = compare(scene.id, Some(&scene.order()), &LedgerSide::default());
    assert!(!hard[0].is_under_way(scene.now));
}

proptest! {
    /// The comparison finds nothing exactly when SPECIFICATION §14.1 holds.
    #[test]
    fn no_discrepancy_means_that_order_and_money_agree(
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
        let is_clean = compare(scene.id, order.as_ref(), &LedgerSide { debits, refunded, cash: None }).is_empty();
        let agrees = match &order {
            None => posted == 0 && !refunded,
            Some(order) if order.mode == Mode::Test => posted + others == 0 && !refunded,
            Some(order) if !order.placed => posted == 0 && !refunded,
            Some(order) => posted == 1 && same_amount && refunded == order.refund_due,
        };
        prop_assert_eq!(is_clean, agrees);
    }
}

/// The ledger has a remittance first: its order follows within seconds, from the step before the settlement.
#[test]
fn a_remittance_is_ahead_of_its_order() {
    let scene = scene();
    for (said, remitted_at, is_awaited) in [
        (CodStatus::HandedOver, Some(scene.now), true),
        (CodStatus::HandedOver, None, false),
        (CodStatus::Collected, Some(scene.now), false),
    ] {
        let cash =
            CashSide { business: scene.business, expected: None, status: CodStatus::Settled, remitted_at };
        let ledger = LedgerSide { cash: Some(cash), ..scene.ledger(&[Outcome::Posted], false) };
        let order = OrderSide { cash_status: said, ..scene.order() };
        let found = scene.discrepancies(Some(&order), &ledger);
        assert_eq!(found, [(Check::CashDiffersFromOrder, is_awaited)], "{said} {remitted_at:?}");
    }
}
