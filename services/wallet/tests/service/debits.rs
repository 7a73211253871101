//! Sequential debits and voids.

use internal_api::wallet::DebitOutcome::{Posted, Rejected, Voided};
use test_kit::refused;

use crate::harness::{Harness, answer};
use crate::invariants::assert_consistent;

#[tokio::test]
async fn a_repeated_debit_takes_the_fee_once() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    for _ in 0..3 {
        let answered = harness.debit(business, order, 1, 4_900).await.unwrap();
        assert_eq!(answered, answer(Posted, 5_100));
    }
    harness.debit(business, harness.order(), 1, 100).await.unwrap();
    // The answer has the balance of the first call.
    assert_eq!(harness.debit(business, order, 1, 4_900).await.unwrap(), answer(Posted, 5_100));
    assert_eq!(harness.balance(business).await, 5_000);
    let line = harness.entries(business).await.remove(1);
    assert_eq!((line.kind.as_str(), line.order_id), ("delivery_fee", Some(order)));
    assert_eq!((line.amount_paise.get(), line.balance_after_paise.get()), (-4_900, 5_100));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_rejected_debit_stays_rejected_after_a_top_up_and_the_next_attempt_posts() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(100).await, harness.order());
    assert_eq!(harness.debit(business, order, 1, 4_900).await.unwrap(), answer(Rejected, 100));
    harness.credit(business, 10_000, "more").await;
    assert_eq!(harness.debit(business, order, 1, 4_900).await.unwrap(), answer(Rejected, 100));
    assert_eq!(harness.void(business, order, 1, 4_900).await.unwrap(), answer(Rejected, 100));
    assert_eq!(harness.balance(business).await, 10_100);
    // The next attempt is a separate debit.
    assert_eq!(harness.debit(business, order, 2, 5_000).await.unwrap(), answer(Posted, 5_100));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_balance_can_be_spent_to_the_last_paisa() {
    let harness = Harness::start().await;
    let business = harness.funded(4_900).await;
    assert_eq!(harness.debit(business, harness.order(), 1, 4_901).await.unwrap(), answer(Rejected, 4_900));
    assert_eq!(harness.debit(business, harness.order(), 1, 4_900).await.unwrap(), answer(Posted, 0));
    assert_eq!(harness.debit(business, harness.order(), 1, 1).await.unwrap(), answer(Rejected, 0));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_business_that_never_paid_in_has_an_empty_wallet() {
    let harness = Harness::start().await;
    let (business, order) = (harness.business(), harness.order());
    assert_eq!(harness.debit(business, order, 1, 1).await.unwrap(), answer(Rejected, 0));
    assert_eq!(harness.debit(business, order, 1, 1).await.unwrap(), answer(Rejected, 0));
    assert_eq!(harness.void(business, order, 2, 1).await.unwrap(), answer(Voided, 0));
    let view = harness.wallet.wallet(business).await.unwrap();
    assert_eq!((view.balance_paise.get(), view.funded_at), (0, None));
    assert!(harness.entries(business).await.is_empty());
}

#[tokio::test]
async fn a_voided_debit_can_never_be_posted() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    assert_eq!(harness.void(business, order, 1, 4_900).await.unwrap(), answer(Voided, 10_000));
    assert_eq!(harness.debit(business, order, 1, 4_900).await.unwrap(), answer(Voided, 10_000));
    assert_eq!(harness.void(business, order, 1, 4_900).await.unwrap(), answer(Voided, 10_000));
    assert_eq!(harness.balance(business).await, 10_000);
    assert_eq!(harness.debit(business, order, 2, 4_900).await.unwrap(), answer(Posted, 5_100));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_void_reports_that_the_fee_was_taken() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    assert_eq!(harness.void(business, order, 1, 4_900).await.unwrap(), answer(Posted, 5_100));
    assert_eq!(harness.balance(business).await, 5_100);
}

#[tokio::test]
async fn one_debit_has_one_amount_and_one_business() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    let other = harness.funded(10_000).await;
    let mismatch = (409, "debit_mismatch".to_owned());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    assert_eq!(refused(harness.debit(business, order, 1, 4_901).await), mismatch);
    assert_eq!(refused(harness.debit(other, order, 1, 4_900).await), mismatch);
    assert_eq!(refused(harness.void(business, order, 1, 1).await), mismatch);
    assert_eq!(refused(harness.void(other, order, 1, 4_900).await), mismatch);
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (5_100, 10_000));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn an_order_pays_under_one_attempt_only() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(10_000).await, harness.order());
    harness.debit(business, order, 1, 4_900).await.unwrap();
    let again = harness.debit(business, order, 2, 4_900).await;
    assert_eq!(refused(again), (409, "order_already_debited".to_owned()));
    // A refusal stores nothing, and a void takes no money.
    assert_eq!(harness.number("SELECT count(*) FROM debits").await, 1);
    assert_eq!(harness.void(business, order, 3, 4_900).await.unwrap(), answer(Voided, 5_100));
    assert_eq!(harness.balance(business).await, 5_100);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_low_balance_is_announced_when_the_threshold_is_crossed() {
    use domain::Paise;
    use events::{Body, WalletLowBalance};

    let mut harness = Harness::connected().await;
    let business = harness.funded(1_500).await;
    assert_eq!(harness.next_announced().await.body, Body::WalletFunded {});
    let low = |balance| {
        let (balance_paise, threshold_paise) = (Paise::new(balance), Paise::new(crate::harness::THRESHOLD));
        Body::WalletLowBalance(WalletLowBalance { balance_paise, threshold_paise })
    };
    // To the threshold, below it, further below it; and again after a credit.
    for amount in [500, 1, 99] {
        harness.debit(business, harness.order(), 1, amount).await.unwrap();
    }
    harness.credit(business, 600, "more").await;
    harness.debit(business, harness.order(), 1, 700).await.unwrap();
    let first = harness.next_announced().await;
    assert_eq!((first.business_id, first.body), (business, low(999)));
    assert_eq!(harness.next_announced().await.body, low(800));
    assert!(harness.has_no_announcement());
}
