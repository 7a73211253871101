//! Compares random sequences of calls and events with a simple model of the rules.

use messaging::Queue;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use domain::{BusinessId, CodStatus, DeliveryStatus, EventId, EventKind, Mode, OrderId, Paise, TrackingCode};
use events::{Body, Envelope, OrderEvent, OrderSnapshot, ProgressData, queues};
use internal_api::CallError;
use internal_api::wallet::DebitOutcome::{Posted, Rejected, Voided};
use internal_api::wallet::{DebitAnswer, EntryView, PaymentNotice};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use test_kit::{refused, until};

use crate::attempt_fees::begun;
use crate::broker::{dead_letters, publish};
use crate::corrections::refund_notice;
use crate::fake_razorpay::sign;
use crate::harness::{Harness, answer};
use crate::invariants::assert_consistent;

const BUSINESSES: usize = 2;
const ORDERS: usize = 4;

/// One call or event; indices name businesses, orders, references and keys.
#[derive(Clone, Debug)]
enum Step {
    Credit { business: usize, amount: i64, reference: usize },
    TopUp { business: usize, amount: i64, key: Option<usize> },
    Debit { business: usize, order: usize, attempt: i32, amount: i64, void: bool },
    Refund { business: usize, order: usize },
    OperatorDebit { business: usize, amount: i64, reference: usize, credit: Option<usize> },
    Reversal { business: usize, amount: i64, key: usize, reference: usize },
    AttemptFee { business: usize, order: usize, attempt: u32, amount: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    // Few different values, so that they meet.
    let debit = prop_oneof![Just(50_i64), Just(100), Just(700)];
    let (business, order, amount) =
        (0..BUSINESSES, 0..ORDERS, prop_oneof![Just(100_i64), Just(250), Just(700)]);
    prop_oneof![
        2 => (business.clone(), amount.clone(), 0..3_usize)
            .prop_map(|(business, amount, reference)| Step::Credit { business, amount, reference }),
        2 => (business.clone(), amount.clone(), proptest::option::of(0..2_usize))
            .prop_map(|(business, amount, key)| Step::TopUp { business, amount, key }),
        6 => (business.clone(), order.clone(), 1..4_i32, amount, prop::bool::weighted(0.2)).prop_map(
            |(business, order, attempt, amount, void)| Step::Debit { business, order, attempt, amount, void }
        ),
        2 => (business.clone(), order.clone()).prop_map(|(business, order)| Step::Refund { business, order }),
        2 => (business.clone(), order, 2..4_u32, debit.clone()).prop_map(
            |(business, order, attempt, amount)| Step::AttemptFee { business, order, attempt, amount }
        ),
        2 => (business.clone(), debit.clone(), 0..3_usize, proptest::option::of(0..3_usize)).prop_map(
            |(business, amount, reference, credit)| Step::OperatorDebit { business, amount, reference, credit }
        ),
        2 => (business, debit, 0..2_usize, 0..3_usize).prop_map(
            |(business, amount, key, reference)| Step::Reversal { business, amount, key, reference }
        ),
    ]
}

#[derive(Clone)]
struct Deposit {
    id: String,
    amount: i64,
    taken_back: i64,
}

#[derive(Default)]
struct Model {
    balances: [i64; BUSINESSES],
    entries: [i64; BUSINESSES],
    owed: [i64; BUSINESSES],
    credits: HashMap<(usize, usize), Deposit>,
    top_ups: HashMap<(usize, usize), Deposit>,
    /// By reference: amount and deposit.
    operator_debits: HashMap<(usize, usize), (i64, Option<String>)>,
    reversals: HashMap<(usize, usize), i64>,
    debits: HashMap<(usize, i32), (usize, i64, DebitAnswer)>,
    /// Order → business and fee.
    paid: HashMap<usize, (usize, i64)>,
    refunded: Vec<usize>,
    /// Order and attempt.
    attempts_paid: HashSet<(usize, u32)>,
}

impl Model {
    fn move_money(&mut self, business: usize, amount: i64) -> i64 {
        self.balances[business] += amount;
        self.entries[business] += 1;
        self.balances[business]
    }

    /// What comes in pays the debt first.
    fn add(&mut self, business: usize, amount: i64) -> i64 {
        self.move_money(business, amount);
        let payment = self.owed[business].min(self.balances[business]);
        if payment > 0 {
            self.owed[business] -= payment;
            self.move_money(business, -payment);
        }
        self.balances[business]
    }

    fn take_back(&mut self, business: usize, amount: i64) {
        let available = amount.min(self.balances[business]);
        if available > 0 {
            self.move_money(business, -available);
        }
        self.owed[business] += amount - available;
    }

    /// What the debit is to be answered with: an answer, or the code of a refusal.
    fn debit(
        &mut self,
        business: usize,
        (order, attempt): (usize, i32),
        amount: i64,
        void: bool,
    ) -> Result<DebitAnswer, &'static str> {
        if let Some((of, was, answered)) = self.debits.get(&(order, attempt)) {
            let is_same = (*of, *was) == (business, amount);
            return if is_same { Ok(self.told(business, *answered)) } else { Err("debit_mismatch") };
        }
        let balance = self.balances[business];
        let answered = match void {
            true => answer(Voided, balance),
            false if self.paid.contains_key(&order) => return Err("order_already_debited"),
            false if balance < amount => answer(Rejected, balance),
            false => {
                self.paid.insert(order, (business, amount));
                answer(Posted, self.move_money(business, -amount))
            }
        };
        self.debits.insert((order, attempt), (business, amount, answered));
        Ok(self.told(business, answered))
    }

    /// The answer as the model expects it: a rejection names the present debt.
    fn told(&self, business: usize, answered: DebitAnswer) -> DebitAnswer {
        let owed = if answered.outcome == Rejected { self.owed[business] } else { 0 };
        DebitAnswer { owed_paise: Paise::new(owed), ..answered }
    }
}

struct Played<'a> {
    harness: &'a Harness,
    /// How many refunds were set aside so far, in all sequences.
    set_aside: &'a Cell<u32>,
    businesses: [BusinessId; BUSINESSES],
    orders: [OrderId; ORDERS],
    model: Model,
    /// Makes each notice different.
    notices: u32,
}

impl Played<'_> {
    async fn play(&mut self, step: &Step) {
        match *step {
            Step::Credit { business, amount, reference } => self.credit(business, amount, reference).await,
            Step::TopUp { business, amount, key } => self.top_up(business, amount, key).await,
            Step::Debit { business, order, attempt, amount, void } => {
                let expected = self.model.debit(business, (order, attempt), amount, void);
                let (of, id) = (self.businesses[business], self.orders[order]);
                let answered = if void {
                    self.harness.void(of, id, attempt, amount).await
                } else {
                    self.harness.debit(of, id, attempt, amount).await
                };
                match expected {
                    Ok(expected) => assert_eq!(answered.expect("an outcome"), expected),
                    Err(code) => assert_eq!(refused(answered), (409, code.to_owned())),
                }
            }
            Step::Refund { business, order } => self.refund(business, order).await,
            Step::OperatorDebit { business, amount, reference, credit } => {
                self.operator_debit(business, amount, reference, credit).await;
            }
            Step::Reversal { business, amount, key, reference } => {
                self.reverse(business, amount, key, reference).await;
            }
            Step::AttemptFee { business, order, attempt, amount } => {
                self.attempt_fee(business, order, attempt, amount).await;
            }
        }
    }

    async fn credit(&mut self, business: usize, amount: i64, reference: usize) {
        let body = json!({"amountPaise": amount, "reference": format!("reference {reference}")});
        let given = self.harness.wallet.credit(self.businesses[business], &body).await;
        match self.model.credits.get(&(business, reference)) {
            Some(before) if before.amount != amount => {
                assert_eq!(refused(given), (409, "reference_reused".to_owned()));
            }
            Some(before) => {
                let given = given.expect("a credit");
                assert_eq!(
                    (given.already_credited, given.transfer_id.to_string()),
                    (true, before.id.clone())
                );
                assert_eq!(given.balance_paise.get(), self.model.balances[business]);
            }
            None => {
                let given = given.expect("a credit");
                let balance = self.model.add(business, amount);
                assert_eq!((given.already_credited, given.balance_paise.get()), (false, balance));
                let deposit = Deposit { id: given.transfer_id.to_string(), amount, taken_back: 0 };
                self.model.credits.insert((business, reference), deposit);
            }
        }
    }

    async fn operator_debit(
        &mut self,
        business: usize,
        amount: i64,
        reference: usize,
        credit: Option<usize>,
    ) {
        let credit = credit.filter(|credit| self.model.credits.contains_key(&(business, *credit)));
        let deposit = credit.map(|credit| self.model.credits[&(business, credit)].clone());
        let reverses = deposit.as_ref().map(|deposit| deposit.id.clone());
        let body =
            json!({"amountPaise": amount, "reference": format!("debit {reference}"), "reverses": reverses});
        let taken = self.harness.wallet.debit_by_operator(self.businesses[business], &body).await;
        let refusal = |code: &str| (409, code.to_owned());
        match (self.model.operator_debits.get(&(business, reference)), deposit) {
            (Some(before), _) if *before != (amount, reverses.clone()) => {
                return assert_eq!(refused(taken), refusal("reference_reused"));
            }
            (Some(_), _) => return assert!(taken.expect("a debit").already_debited),
            (None, Some(deposit)) if amount > deposit.amount - deposit.taken_back => {
                return assert_eq!(refused(taken), refusal("exceeds_transfer"));
            }
            (None, None) if amount > self.model.balances[business] => {
                return assert_eq!(refused(taken), refusal("insufficient_balance"));
            }
            (None, _) => self.model.take_back(business, amount),
        }
        if let Some(deposit) = credit.and_then(|credit| self.model.credits.get_mut(&(business, credit))) {
            deposit.taken_back += amount;
        }
        let taken = taken.expect("a debit");
        let after = (self.model.balances[business], self.model.owed[business]);
        assert_eq!((taken.balance_paise.get(), taken.owed_paise.get()), after);
        self.model.operator_debits.insert((business, reference), (amount, reverses));
    }

    /// A refund at the sandbox provider.
    async fn reverse(&mut self, business: usize, amount: i64, key: usize, reference: usize) {
        let Some(top_up) = self.model.top_ups.get_mut(&(business, key)) else { return };
        let refund = format!("rfnd_{}_{reference}", self.businesses[business]);
        let body = refund_notice(&format!("sandbox_{}", top_up.id), &refund, amount, self.notices);
        self.notices += 1;
        let notice = PaymentNotice { signature: sign(&body, "sandbox"), body };
        let answered =
            self.harness.wallet.payment_notice("sandbox", &notice).await.expect("an outcome").outcome;
        if let Some(before) = self.model.reversals.get(&(business, reference)) {
            return assert_eq!(answered, if *before == amount { "settled_before" } else { "mismatch" });
        }
        if amount > top_up.amount - top_up.taken_back {
            return assert_eq!(answered, "mismatch");
        }
        assert_eq!(answered, "reversed");
        top_up.taken_back += amount;
        self.model.reversals.insert((business, reference), amount);
        self.model.take_back(business, amount);
    }

    async fn top_up(&mut self, business: usize, amount: i64, key: Option<usize>) {
        let name = key.map(|key| format!("key {key}"));
        let body = json!({"amountPaise": amount});
        let of = self.businesses[business];
        let topped_up = self.harness.wallet.top_up(of, name.as_deref(), &body).await;
        let before = key.and_then(|key| self.model.top_ups.get(&(business, key)).cloned());
        match before {
            Some(was) if was.amount != amount => {
                assert_eq!(refused(topped_up), (422, "idempotency_key_reused".to_owned()));
                return;
            }
            Some(_) => {}
            None => {
                self.model.add(business, amount);
                if let (Some(key), Ok(top_up)) = (key, &topped_up) {
                    let deposit = Deposit { id: top_up.id.to_string(), amount, taken_back: 0 };
                    self.model.top_ups.insert((business, key), deposit);
                }
            }
        }
        let topped_up = topped_up.expect("a top-up");
        assert_eq!(topped_up.status, "succeeded");
        assert_eq!(topped_up.balance_paise.get(), self.model.balances[business]);
    }

    /// Of another business's order, or of one that never paid, it is set aside and changes nothing.
    async fn refund(&mut self, business: usize, order: usize) {
        let id = EventId::generate(&self.harness.clock, &self.harness.entropy);
        publish(self.harness, &[self.cancelled(id, business, order)]).await;
        let due = self.model.paid.get(&order).filter(|(of, _)| *of == business).copied();
        let Some((_, fee)) = due else {
            self.set_aside.set(self.set_aside.get() + 1);
            let queue = Queue::shared(queues::REFUNDS);
            let set_aside = async || dead_letters(self.harness, &queue).await == self.set_aside.get();
            until("the refund is set aside", set_aside).await;
            return;
        };
        let seen = format!("SELECT count(*) FROM inbox WHERE event_id = '{id}'");
        until("the refund is handled", async || self.harness.number(&seen).await == 1).await;
        if !self.model.refunded.contains(&order) {
            self.model.refunded.push(order);
            self.model.add(business, fee);
        }
    }

    /// order-api announces no attempt of an order without a fee.
    async fn attempt_fee(&mut self, business: usize, order: usize, attempt: u32, amount: i64) {
        if self.model.paid.get(&order).is_none_or(|(of, _)| *of != business) {
            return;
        }
        let (of, order_id) = (self.businesses[business], self.orders[order]);
        let event = begun(self.harness, of, order_id, attempt, amount);
        let seen = format!("SELECT count(*) FROM inbox WHERE event_id = '{}'", event.id);
        publish(self.harness, &[event]).await;
        until("the attempt is handled", async || self.harness.number(&seen).await == 1).await;
        if self.model.attempts_paid.insert((order, attempt)) {
            self.model.take_back(business, amount);
        }
    }

    fn cancelled(&self, id: EventId, business: usize, order: usize) -> Envelope {
        let event = OrderEvent {
            event: EventKind::OrderCancelled,
            sequence: 2,
            mode: Mode::Live,
            order: OrderSnapshot {
                id: self.orders[order],
                order_reference: "shop-1".into(),
                tracking_code: TrackingCode::generate(Mode::Live, &self.harness.entropy),
                tracking_url: "https://track.example/x".into(),
                status: DeliveryStatus::Cancelled,
                cod_status: CodStatus::NotApplicable,
            },
            data: ProgressData::default(),
            delivery_fee_paise: Paise::new(1),
            refund_due: true,
            cod_expected_paise: None,
            recorded_at: None,
        };
        let occurred_at = self.harness.clock.now();
        Envelope {
            id,
            business_id: self.businesses[business],
            occurred_at,
            body: Body::Order(Box::new(event)),
        }
    }

    async fn check(&self) {
        for (index, business) in self.businesses.iter().enumerate() {
            let seen: Result<_, CallError> = self.harness.wallet.wallet(*business).await;
            let seen = seen.expect("a wallet");
            let after = (self.model.balances[index], self.model.owed[index]);
            assert_eq!((seen.balance_paise.get(), seen.owed_paise.get()), after);
            // The statement explains both amounts.
            let lines = self.harness.entries(*business).await;
            let sum =
                |paise: fn(&EntryView) -> Paise| lines.iter().map(|line| paise(line).get()).sum::<i64>();
            assert_eq!((sum(|line| line.amount_paise), sum(|line| line.owed_paise)), after);
            let moved = lines.iter().filter(|line| line.amount_paise != Paise::ZERO).count();
            assert_eq!(i64::try_from(moved).expect("few"), self.model.entries[index]);
        }
    }
}

#[test]
fn whatever_is_asked_in_whatever_order_the_books_agree_with_the_model() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let harness = runtime.block_on(Harness::connected());
    let set_aside = Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: 16, failure_persistence: None, ..Config::default() });
    let sequences = proptest::collection::vec(step(), 1..50);
    let outcome = runner.run(&sequences, |steps| {
        runtime.block_on(async {
            let mut played = Played {
                harness: &harness,
                set_aside: &set_aside,
                businesses: std::array::from_fn(|_| harness.business()),
                orders: std::array::from_fn(|_| harness.order()),
                model: Model::default(),
                notices: 0,
            };
            for step in &steps {
                played.play(step).await;
            }
            played.check().await;
            assert_consistent(&harness).await;
        });
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
