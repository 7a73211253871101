//! The rules one by one, and whole batches against a naive model.

use chrono::DateTime;
use domain::{Clock, Entropy};
use proptest::prelude::*;

use super::*;

const THRESHOLD: Paise = Paise::new(50);

struct Names {
    businesses: Vec<BusinessId>,
    orders: Vec<OrderId>,
}

fn names() -> Names {
    let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(4));
    Names {
        businesses: (0..3).map(|_| BusinessId::generate(&clock, &entropy)).collect(),
        orders: (0..6).map(|_| OrderId::generate(&clock, &entropy)).collect(),
    }
}

fn known(balance: i64) -> Known {
    let mut known = Known::default();
    let wallet = Wallet { balance: Paise::new(balance), entry_count: 7 };
    known.add_wallet(names().businesses[0], wallet, THRESHOLD);
    known
}

fn job(order: usize, attempt: i32, amount: i64, action: Action) -> DebitJob {
    let names = names();
    let id = DebitId { order: names.orders[order], attempt };
    DebitJob { id, business: names.businesses[0], amount: Paise::new(amount), action }
}

fn outcomes(decided: &Decided) -> Vec<Result<(Outcome, i64), DebitRefusal>> {
    let shown = |debit: Debit| (debit.outcome, debit.balance_after.get());
    decided.answers.iter().map(|answer| answer.map(shown)).collect()
}

#[test]
fn jobs_are_decided_in_their_order() {
    let jobs = [
        job(0, 1, 60, Action::Post),
        job(1, 1, 60, Action::Post),
        job(2, 1, 40, Action::Post),
        job(3, 1, 1, Action::Post),
    ];
    let decided = decide(known(100), &jobs);
    let (posted, rejected) = (Outcome::Posted, Outcome::Rejected);
    assert_eq!(
        outcomes(&decided),
        [Ok((posted, 40)), Ok((rejected, 40)), Ok((posted, 0)), Ok((rejected, 0))]
    );
    let wallet = Wallet { balance: Paise::ZERO, entry_count: 9 };
    assert_eq!(decided.wallets.into_iter().collect::<Vec<_>>(), [(names().businesses[0], wallet)]);
    let sequences: Vec<_> =
        decided.new_debits.iter().filter_map(|(_, entry)| *entry).map(|entry| entry.sequence).collect();
    assert_eq!(sequences, [8, 9]);
}

#[test]
fn a_repeated_debit_gets_the_same_answer_and_another_amount_is_refused() {
    let again = job(0, 1, 60, Action::Post);
    let jobs = [again, again, job(0, 1, 61, Action::Post), job(0, 1, 60, Action::Void)];
    let decided = decide(known(100), &jobs);
    let posted = Ok((Outcome::Posted, 40));
    assert_eq!(outcomes(&decided), [posted, posted, Err(DebitRefusal::Mismatch), posted]);
    assert_eq!(decided.new_debits.len(), 1);

    let elsewhere = DebitJob { business: names().businesses[1], ..again };
    assert_eq!(outcomes(&decide(known(100), &[again, elsewhere]))[1], Err(DebitRefusal::Mismatch));
}

#[test]
fn an_order_pays_once_whatever_its_attempt() {
    let jobs = [job(0, 1, 60, Action::Post), job(0, 2, 10, Action::Post), job(0, 3, 10, Action::Void)];
    let decided = decide(known(100), &jobs);
    assert_eq!(
        outcomes(&decided),
        [Ok((Outcome::Posted, 40)), Err(DebitRefusal::OrderAlreadyDebited), Ok((Outcome::Voided, 40))]
    );
    assert_eq!(decided.new_debits.len(), 2);
}

#[test]
fn a_void_and_a_rejection_are_final_and_leave_the_next_attempt_free() {
    let jobs = [
        job(0, 1, 10, Action::Void),
        job(0, 1, 10, Action::Post),
        job(0, 2, 200, Action::Post),
        job(0, 2, 200, Action::Void),
        job(0, 3, 100, Action::Post),
    ];
    let (voided, rejected) = (Ok((Outcome::Voided, 100)), Ok((Outcome::Rejected, 100)));
    assert_eq!(
        outcomes(&decide(known(100), &jobs)),
        [voided, voided, rejected, rejected, Ok((Outcome::Posted, 0))]
    );
}

#[test]
fn the_threshold_is_announced_when_it_is_crossed_and_not_below_it() {
    let jobs = [job(0, 1, 50, Action::Post), job(1, 1, 1, Action::Post), job(2, 1, 1, Action::Post)];
    let expected =
        LowBalance { business: names().businesses[0], balance: Paise::new(49), threshold: THRESHOLD };
    assert_eq!(decide(known(100), &jobs).low_balances, [expected]);
    assert_eq!(decide(known(49), &jobs[1..]).low_balances, []);
}

#[test]
fn a_business_without_a_wallet_has_an_empty_one() {
    let stranger = DebitJob { business: names().businesses[2], ..job(0, 1, 1, Action::Post) };
    let decided = decide(known(100), &[stranger]);
    assert_eq!(outcomes(&decided), [Ok((Outcome::Rejected, 0))]);
    assert!(decided.wallets.is_empty());
}

fn any_job() -> impl Strategy<Value = DebitJob> {
    let amount = prop_oneof![Just(10_i64), Just(25), 1_i64..400];
    (0_usize..3, 0_usize..6, 1_i32..4, amount, any::<bool>()).prop_map(
        |(business, order, attempt, amount, post)| {
            let action = if post { Action::Post } else { Action::Void };
            DebitJob { business: names().businesses[business], ..job(order, attempt, amount, action) }
        },
    )
}

/// The rules in their simplest form, one job at a time.
fn model(balances: &mut HashMap<BusinessId, i64>, past: &mut Vec<Debit>, job: &DebitJob) -> Option<Outcome> {
    if let Some(debit) = past.iter().find(|debit| debit.id == job.id) {
        return (debit.business == job.business && debit.amount == job.amount).then_some(debit.outcome);
    }
    let order_paid =
        past.iter().any(|debit| debit.id.order == job.id.order && debit.outcome == Outcome::Posted);
    let balance = balances.entry(job.business).or_default();
    let outcome = match job.action {
        Action::Void => Outcome::Voided,
        Action::Post if order_paid => return None,
        Action::Post if *balance >= job.amount.get() => {
            *balance -= job.amount.get();
            Outcome::Posted
        }
        Action::Post => Outcome::Rejected,
    };
    let (id, business, amount) = (job.id, job.business, job.amount);
    past.push(Debit { id, business, amount, outcome, balance_after: Paise::new(*balance) });
    Some(outcome)
}

proptest! {
    /// For any jobs in any batches: the answers equal those of the model, in the order of the jobs; balances are the sums
    /// of their entries and never negative; sequences have no gap; and an order pays at most once.
    #[test]
    fn any_batches_match_the_model(
        jobs in proptest::collection::vec(any_job(), 0..60),
        cut in 1_usize..20,
        balances in proptest::collection::vec(0_i64..600, 2),
    ) {
        let names = names();
        let mut wallets: HashMap<BusinessId, Wallet> = (0..2)
            .map(|at| (names.businesses[at], Wallet { balance: Paise::new(balances[at]), entry_count: 0 }))
            .collect();
        let mut stored: Vec<Debit> = Vec::new();
        let mut model_balances = (0..2).map(|at| (names.businesses[at], balances[at])).collect();
        let mut model_past = Vec::new();
        for batch in jobs.chunks(cut) {
            let mut known = Known::default();
            wallets.iter().for_each(|(business, wallet)| known.add_wallet(*business, *wallet, THRESHOLD));
            stored.iter().for_each(|debit| known.add_debit(*debit));
            let decided = decide(known, batch);
            prop_assert_eq!(decided.answers.len(), batch.len());
            for (job, answer) in batch.iter().zip(&decided.answers) {
                let expected = model(&mut model_balances, &mut model_past, job);
                prop_assert_eq!(answer.ok().map(|debit| debit.outcome), expected);
                if let Ok(debit) = answer {
                    prop_assert_eq!((debit.id, debit.amount), (job.id, job.amount));
                }
            }
            for (debit, entry) in &decided.new_debits {
                prop_assert_eq!(entry.is_some(), debit.outcome == Outcome::Posted);
                if let Some(entry) = entry {
                    let wallet = wallets.get_mut(&debit.business).unwrap();
                    prop_assert_eq!(entry.amount.get(), -debit.amount.get());
                    prop_assert_eq!(wallet.post(entry.amount), Ok(*entry));
                }
                stored.push(*debit);
            }
            for (business, wallet) in &decided.wallets {
                prop_assert_eq!(wallets[business], *wallet);
            }
        }
        for (business, wallet) in &wallets {
            prop_assert_eq!(wallet.balance.get(), model_balances[business]);
        }
        prop_assert_eq!(&stored, &model_past);
        for order in names.orders {
            let posted = |debit: &&Debit| debit.id.order == order && debit.outcome == Outcome::Posted;
            prop_assert!(stored.iter().filter(posted).count() <= 1);
        }
    }
}
