//! Valid and invalid requests.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use test_kit::until;

use crate::harness::Harness;

/// Sends a request with the internal token and returns status and body.
async fn call(harness: &Harness, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
    let url = harness.internal.join(path).expect("a path");
    let mut request =
        test_kit::client().request(method, url).bearer_auth(harness.settings.internal.token.expose());
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.expect("an answer");
    (response.status(), response.json().await.expect("JSON"))
}

#[tokio::test]
async fn an_invalid_debit_reports_all_field_errors_and_changes_nothing() {
    let harness = Harness::start().await;
    let (business, order) = (harness.funded(1_000).await, harness.order());
    let path = format!("/internal/debits/{order}/1");
    let cases: [(Value, &[&str]); 9] = [
        (json!({}), &["businessId", "amountPaise"]),
        (json!({"businessId": "biz_x", "amountPaise": 0}), &["businessId", "amountPaise"]),
        (json!({"businessId": business, "amountPaise": 0}), &["amountPaise"]),
        (json!({"businessId": business, "amountPaise": -100}), &["amountPaise"]),
        (json!({"businessId": business, "amountPaise": 1.0}), &["amountPaise"]),
        (json!({"businessId": business, "amountPaise": 100_000_000_001_i64}), &["amountPaise"]),
        (json!({"businessId": business, "amountPaise": u64::MAX}), &["amountPaise"]),
        (json!({"businessId": 7, "amountPaise": 100}), &["businessId"]),
        (json!([business, 100]), &[""]),
    ];
    for (body, fields) in cases {
        for (method, path) in [(Method::PUT, path.clone()), (Method::POST, format!("{path}/void"))] {
            let (status, answer) = call(&harness, method, &path, Some(body.clone())).await;
            assert_eq!((status.as_u16(), &answer["code"]), (400, &json!("invalid_request")), "{body}");
            let named: Vec<_> =
                answer["errors"].as_array().expect("errors").iter().map(|e| &e["field"]).collect();
            assert_eq!(named, fields, "{body}");
        }
    }
    assert_eq!(harness.number("SELECT count(*) FROM debits").await, 0);
    assert_eq!(harness.balance(business).await, 1_000);
}

#[tokio::test]
async fn an_invalid_id_is_not_found() {
    let harness = Harness::start().await;
    let (business, order) = (harness.business(), harness.order());
    let body = json!({"businessId": business, "amountPaise": 100});
    for id in
        [format!("{order}/0"), format!("{order}/-1"), format!("{order}/2147483648"), "ord_x/1".to_owned()]
    {
        let (status, answer) =
            call(&harness, Method::PUT, &format!("/internal/debits/{id}"), Some(body.clone())).await;
        assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("debit_not_found")), "{id}");
    }
    for path in ["/internal/wallets/biz_x", "/internal/wallets/biz_x/entries", "/internal/wallets/%00"] {
        let (status, answer) = call(&harness, Method::GET, path, None).await;
        assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("business_not_found")), "{path}");
    }
}

#[tokio::test]
async fn calls_without_the_internal_token_are_refused() {
    let harness = Harness::start().await;
    let url = harness.internal.join(&format!("/internal/wallets/{}", harness.business())).expect("a path");
    for token in ["", "local-internal-token-of-the-local-stac"] {
        let response = test_kit::client().get(url.clone()).bearer_auth(token).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    // An unauthenticated caller does not learn whether its request is valid.
    let url = harness.internal.join("/internal/wallets/biz_x/credits").expect("a path");
    let response = test_kit::client().post(url).body("{").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

/// The status of `/health/ready`, and whether its database and its broker are there.
async fn readiness(harness: &Harness) -> (u16, bool, bool) {
    let url = harness.management.join("/health/ready").expect("a path");
    let response = test_kit::client().get(url).send().await.expect("an answer");
    let status = response.status().as_u16();
    let checks = response.json::<Value>().await.expect("JSON")["checks"].take();
    (status, checks["database"] == true, checks["broker"] == true)
}

#[tokio::test]
async fn the_service_is_ready_with_its_database_and_broker() {
    let harness = Harness::connected().await;
    until("the service is ready", async || readiness(&harness).await == (200, true, true)).await;
    let metrics =
        test_kit::client().get(harness.management.join("/metrics").expect("a path")).send().await.unwrap();
    assert_eq!(metrics.status(), StatusCode::OK);
}

/// Or each roll-out would wait for the broker, although orders can be taken.
#[tokio::test]
async fn a_new_instance_is_ready_without_the_broker() {
    let harness = Harness::start().await;
    until("the service is ready", async || readiness(&harness).await == (200, true, false)).await;
}
