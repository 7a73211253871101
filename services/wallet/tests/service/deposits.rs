//! Top-ups and credits.

use events::Body;
use futures_util::future::join_all;
use serde_json::{Value, json};
use test_kit::{refusal, refused};

use crate::harness::{Harness, THRESHOLD};
use crate::invariants::assert_consistent;

#[tokio::test]
async fn the_sandbox_credits_a_top_up_immediately() {
    let mut harness = Harness::connected().await;
    let business = harness.business();
    let top_up = harness.wallet.top_up(business, None, &json!({"amountPaise": 25_000})).await.unwrap();
    assert_eq!((top_up.status.as_str(), top_up.provider.as_str()), ("succeeded", "sandbox"));
    assert_eq!((top_up.amount_paise.get(), top_up.balance_paise.get()), (25_000, 25_000));

    let view = harness.wallet.wallet(business).await.unwrap();
    assert_eq!((view.balance_paise.get(), view.currency.as_str()), (25_000, "INR"));
    assert_eq!(view.low_balance_threshold_paise.get(), THRESHOLD);
    assert!(view.funded_at.is_some());
    let line = harness.entries(business).await.remove(0);
    assert_eq!((line.id.as_str(), line.kind.as_str()), ("1", "top_up"));
    assert_eq!(line.reference, Some(top_up.id.to_string()));

    // Only the first deposit is announced.
    let again = harness.wallet.top_up(business, None, &json!({"amountPaise": 5_000})).await.unwrap();
    assert_eq!(again.balance_paise.get(), 30_000);
    assert_eq!(harness.wallet.wallet(business).await.unwrap().funded_at, view.funded_at);
    let funded = harness.next_announced().await;
    assert_eq!((funded.business_id, funded.body), (business, Body::WalletFunded {}));
    let other = harness.funded(1).await;
    assert_eq!(harness.next_announced().await.business_id, other);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_repeated_top_up_is_credited_after_a_crash_before_its_credit() {
    let harness = Harness::start().await;
    let business = harness.business();
    let crashed = format!(
        "INSERT INTO top_ups (id, business_id, provider, provider_reference, idempotency_key, amount_paise, status,
             created_at, next_check_at)
         VALUES ('top_01ARZ3NDEKTSV4RRFFQ69G5FAV', '{business}', 'sandbox', 'sandbox_x', 'k', 700, 'pending', now(),
             now() + interval '1 day')"
    );
    harness.script(&crashed).await.unwrap();
    let repeated = harness.wallet.top_up(business, Some("k"), &json!({"amountPaise": 700})).await.unwrap();
    assert_eq!((repeated.status.as_str(), repeated.balance_paise.get()), ("succeeded", 700));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_credit_is_given_once_for_each_reference() {
    let harness = Harness::start().await;
    let (business, other) = (harness.business(), harness.business());
    let body = json!({"amountPaise": 700, "reference": " invoice 7 "});
    let given = harness.wallet.credit(business, &body).await.unwrap();
    assert_eq!((given.amount_paise.get(), given.reference.as_str()), (700, "invoice 7"));
    assert!(!given.already_credited);
    harness.credit(business, 300, "invoice 8").await;
    // The same credit, with today's balance.
    let again = harness.wallet.credit(business, &body).await.unwrap();
    assert_eq!((again.transfer_id, again.created_at), (given.transfer_id, given.created_at));
    assert_eq!((again.already_credited, again.balance_paise.get()), (true, 1_000));
    harness.credit(business, 5, "caf\u{e9}").await;
    let decomposed = json!({"amountPaise": 5, "reference": "cafe\u{301}"});
    assert!(harness.wallet.credit(business, &decomposed).await.unwrap().already_credited);
    let back = json!({"amountPaise": 5, "reference": "away"});
    harness.wallet.debit_by_operator(business, &back).await.unwrap();
    assert_eq!(harness.balance(business).await, 1_000);

    let reused =
        harness.wallet.credit(business, &json!({"amountPaise": 701, "reference": "invoice 7"})).await;
    assert_eq!(refused(reused), (409, "reference_reused".to_owned()));
    // References are unique per business.
    harness.credit(other, 701, "invoice 7").await;
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (1_000, 701));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn concurrent_equal_credits_are_given_once() {
    let harness = Harness::start().await;
    let second = harness.second_instance();
    let business = harness.business();
    let body = json!({"amountPaise": 700, "reference": "invoice 7"});
    let calls =
        (0..20).map(|call| if call % 2 == 0 { &harness.wallet } else { &second }.credit(business, &body));
    let given: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(given.iter().all(|credit| credit.transfer_id == given[0].transfer_id));
    assert_eq!(given.iter().filter(|credit| !credit.already_credited).count(), 1);
    assert_eq!(harness.balance(business).await, 700);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn invalid_amounts_and_references_are_refused() {
    let harness = Harness::start().await;
    let business = harness.business();
    let bad_amounts =
        [json!(0), json!(-1), json!(1.5), json!("100"), json!(null), json!(i64::MAX), json!(u64::MAX)];
    for amount in bad_amounts {
        let top_up = refusal(harness.wallet.top_up(business, None, &json!({"amountPaise": amount})).await);
        assert_eq!((top_up.status, top_up.code.as_str()), (400, "invalid_request"), "{amount}");
        let body = json!({"amountPaise": amount, "reference": "x"});
        let credit = refusal(harness.wallet.credit(business, &body).await);
        assert_eq!((credit.status, credit.code.as_str()), (400, "invalid_request"), "{amount}");
    }
    let fields = async |body: Value| {
        let errors = refusal(harness.wallet.credit(business, &body).await).rest["errors"].clone();
        let fields = errors.as_array().expect("errors").iter();
        fields.map(|error| error["field"].as_str().expect("a field").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(fields(json!({})).await, ["amountPaise", "reference"]);
    assert_eq!(
        fields(json!({"amountPaise": 0, "reference": "x".repeat(129)})).await,
        ["amountPaise", "reference"]
    );
    assert_eq!(fields(json!({"amountPaise": 1, "reference": "a\u{0}b"})).await, ["reference"]);
    for unseen in ["invoice\u{200B} 7", "\u{202E}7 eciovni", "a\u{200D}b", "a\u{FEFF}b"] {
        assert_eq!(fields(json!({"amountPaise": 1, "reference": unseen})).await, ["reference"], "{unseen:?}");
    }
    assert_eq!(fields(json!([])).await, [""]);
    assert_eq!(harness.number("SELECT count(*) FROM wallets").await, 0);
    assert_eq!(harness.number("SELECT count(*) FROM top_ups").await, 0);
}
