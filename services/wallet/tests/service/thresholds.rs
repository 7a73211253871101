//! Thresholds of low-balance alerts.

use domain::{BusinessId, Paise};
use events::{Body, Envelope, WalletLowBalance};
use serde_json::{Value, json};
use test_kit::refusal;

use crate::harness::{Harness, THRESHOLD};

async fn set(harness: &Harness, business: BusinessId, threshold: Value) -> i64 {
    let view = harness.wallet.set_threshold(business, &json!({"thresholdPaise": threshold})).await;
    let view = view.expect("a wallet");
    assert_eq!(harness.wallet.wallet(business).await.expect("a wallet"), view);
    view.low_balance_threshold_paise.get()
}

#[track_caller]
fn assert_low(announced: &Envelope, business: BusinessId, balance: i64, threshold: i64) {
    let (balance_paise, threshold_paise) = (Paise::new(balance), Paise::new(threshold));
    let low = Body::WalletLowBalance(WalletLowBalance { balance_paise, threshold_paise });
    assert_eq!((announced.business_id, &announced.body), (business, &low));
}

#[tokio::test]
async fn each_crossing_of_the_own_threshold_is_announced_once() {
    let mut harness = Harness::connected().await;
    let business = harness.funded(5_000).await;
    harness.next_announced().await;
    assert_eq!(set(&harness, business, json!(3_000)).await, 3_000);
    for paise in [1_000, 1_001, 500] {
        harness.debit(business, harness.order(), 1, paise).await.unwrap();
    }
    harness.credit(business, 501, "to the threshold").await;
    harness.debit(business, harness.order(), 1, 1).await.unwrap();
    let event = harness.next_announced().await;
    assert_low(&event, business, 2_999, 3_000);
    let event = harness.next_announced().await;
    assert_low(&event, business, 2_999, 3_000);

    // The operator's default again: 2,999 is not low, then the balance falls below the default.
    assert_eq!(set(&harness, business, Value::Null).await, THRESHOLD);
    harness.debit(business, harness.order(), 1, 2_000).await.unwrap();
    let event = harness.next_announced().await;
    assert_low(&event, business, 999, THRESHOLD);
    assert!(harness.has_no_announcement());
}

/// Of wallets with the default and with their own threshold. A second deposit and a fee below it announce nothing.
#[tokio::test]
async fn a_first_deposit_that_leaves_the_balance_low_is_announced_once() {
    let mut harness = Harness::connected().await;
    let own = harness.business();
    set(&harness, own, json!(3_000)).await;
    let others = [harness.business(), harness.business()];
    for (business, threshold, first) in
        [(own, 3_000, 2_998), (others[0], THRESHOLD, THRESHOLD - 2), (others[1], THRESHOLD, THRESHOLD)]
    {
        harness.credit(business, first, "opening").await;
        assert_eq!(harness.next_announced().await.body, Body::WalletFunded {});
        if first < threshold {
            assert_low(&harness.next_announced().await, business, first, threshold);
            harness.credit(business, 1, "more").await;
        }
        harness.debit(business, harness.order(), 1, 1).await.unwrap();
    }
    // Only the last fee lets a balance fall below its threshold.
    assert_low(&harness.next_announced().await, others[1], THRESHOLD - 1, THRESHOLD);
    assert!(harness.has_no_announcement());
}

#[tokio::test]
async fn a_threshold_above_the_balance_is_announced_immediately_and_once() {
    let mut harness = Harness::connected().await;
    let (business, unfunded) = (harness.funded(5_000).await, harness.business());
    harness.next_announced().await;
    set(&harness, business, json!(5_000)).await;
    set(&harness, business, json!(5_001)).await;
    set(&harness, business, json!(6_000)).await;
    set(&harness, business, json!(0)).await;
    // A wallet that was never funded causes no alert.
    set(&harness, unfunded, json!(100)).await;
    set(&harness, business, json!(7_000)).await;
    let event = harness.next_announced().await;
    assert_low(&event, business, 5_000, 5_001);
    let event = harness.next_announced().await;
    assert_low(&event, business, 5_000, 7_000);
    assert!(harness.has_no_announcement());
}

#[tokio::test]
async fn an_invalid_threshold_is_refused_and_changes_nothing() {
    let harness = Harness::start().await;
    let business = harness.business();
    for body in [
        json!({}),
        json!([]),
        json!({"thresholdPaise": -1}),
        json!({"thresholdPaise": 1.5}),
        json!({"thresholdPaise": "1"}),
        json!({"thresholdPaise": 100_000_000_001_i64}),
        json!({"thresholdPaise": u64::MAX}),
    ] {
        let refused = refusal(harness.wallet.set_threshold(business, &body).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{body}");
    }
    assert_eq!(harness.number("SELECT count(*) FROM wallets").await, 0);
}
