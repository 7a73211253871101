//! The balance below which a business wants to hear of it.

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
fn assert_low(heard: &Envelope, business: BusinessId, balance: i64, threshold: i64) {
    let (balance_paise, threshold_paise) = (Paise::new(balance), Paise::new(threshold));
    let low = Body::WalletLowBalance(WalletLowBalance { balance_paise, threshold_paise });
    assert_eq!((heard.business_id, &heard.body), (business, &low));
}

#[tokio::test]
async fn a_low_balance_is_told_once_for_each_crossing_of_the_businesss_own_threshold() {
    let mut harness = Harness::start().await;
    let business = harness.funded(5_000).await;
    harness.next_announced().await;
    assert_eq!(set(&harness, business, json!(3_000)).await, 3_000);
    for paise in [1_000, 1_001, 500] {
        harness.debit(business, harness.order(), 1, paise).await.unwrap();
    }
    harness.credit(business, 501, "to the threshold").await;
    harness.debit(business, harness.order(), 1, 1).await.unwrap();
    let heard = harness.next_announced().await;
    assert_low(&heard, business, 2_999, 3_000);
    let heard = harness.next_announced().await;
    assert_low(&heard, business, 2_999, 3_000);

    // The operator's default again: 2,999 is no longer low, and then falls below that one.
    assert_eq!(set(&harness, business, Value::Null).await, THRESHOLD);
    harness.debit(business, harness.order(), 1, 2_000).await.unwrap();
    let heard = harness.next_announced().await;
    assert_low(&heard, business, 999, THRESHOLD);
    assert!(harness.nothing_announced());
}

#[tokio::test]
async fn a_threshold_above_the_balance_tells_at_once_and_only_then() {
    let mut harness = Harness::start().await;
    let (business, unfunded) = (harness.funded(5_000).await, harness.business());
    harness.next_announced().await;
    set(&harness, business, json!(5_000)).await;
    set(&harness, business, json!(5_001)).await;
    set(&harness, business, json!(6_000)).await;
    set(&harness, business, json!(0)).await;
    // Nobody is told of a wallet that was never filled.
    set(&harness, unfunded, json!(100)).await;
    set(&harness, business, json!(7_000)).await;
    let heard = harness.next_announced().await;
    assert_low(&heard, business, 5_000, 5_001);
    let heard = harness.next_announced().await;
    assert_low(&heard, business, 5_000, 7_000);
    assert!(harness.nothing_announced());
}

#[tokio::test]
async fn what_is_no_threshold_is_refused_and_changes_nothing() {
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
