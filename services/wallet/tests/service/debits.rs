//! A repeated debit, and the announcement of a low balance. `domain/debits/tests.rs` has the rules of debits and voids.

use internal_api::wallet::DebitOutcome::Posted;

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
