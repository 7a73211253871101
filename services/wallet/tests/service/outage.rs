//! Without a database, calls fail and report no outcome.

use internal_api::CallError;
use reqwest::StatusCode;
use serde_json::json;

use crate::harness::{Harness, request};

#[tokio::test]
async fn without_a_database_calls_fail() {
    let harness = Harness::start_without_database().await;
    let (business, order) = (harness.business(), harness.order());
    let url = harness.internal.join(&format!("internal/debits/{order}/1")).unwrap();
    let token = harness.settings.internal.token.expose();
    let call = test_kit::client().put(url).bearer_auth(token).json(&request(business, 100));
    let answer = call.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    let body: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(body["code"], "temporarily_unavailable");

    let unknown = |failed: bool| assert!(failed, "an outage is not a refusal");
    let voided = harness.void(business, order, 1, 100).await;
    unknown(matches!(voided, Err(CallError::Unavailable { .. })));
    unknown(matches!(harness.wallet.wallet(business).await, Err(CallError::Unavailable { .. })));
    let credit = harness.wallet.credit(business, &json!({"amountPaise": 1, "reference": "x"})).await;
    unknown(matches!(credit, Err(CallError::Unavailable { .. })));

    let ready =
        test_kit::client().get(harness.management.join("health/ready").unwrap()).send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.json::<serde_json::Value>().await.unwrap()["checks"]["database"], false);
    let live = test_kit::client().get(harness.management.join("health/live").unwrap()).send().await.unwrap();
    assert_eq!(live.status(), StatusCode::OK);
}
