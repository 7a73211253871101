//! Verdicts on keys, and when a key was last used.

use actix_web::http::StatusCode;
use chrono::TimeDelta;
use domain::Mode;
use serde_json::{Value, json};
use test_kit::until;

use crate::harness::{Harness, unknown_key};

#[tokio::test]
async fn what_is_no_working_key_has_no_verdict() {
    let harness = Harness::start().await;
    let key = harness.create(Mode::Test).await.key;
    let (start, last) = key.split_at(key.len() - 1);
    let mistyped = format!("{start}{}", if last == "x" { "y" } else { "x" });
    let of_other_mode = key.replace("sk_test_", "sk_live_");
    let of_other_brand = key.replace("waybill", "other");
    let unknown = unknown_key(&harness.entropy);
    let long = "k".repeat(100_000);
    for text in
        ["", " ", "नमस्ते", "sk_test_waybill_", &mistyped, &of_other_mode, &of_other_brand, &unknown, &long]
    {
        assert_eq!(harness.verdict(text).await, None, "{text:.60}");
    }
    assert!(harness.verdict(&key).await.is_some());
}

async fn post(harness: &Harness, token: &str, body: Value) -> (StatusCode, Value) {
    let url = harness.internal.join("internal/api-keys/verify").unwrap();
    let answer = test_kit::client().post(url).bearer_auth(token).json(&body).send().await.unwrap();
    (answer.status().as_u16().try_into().unwrap(), answer.json().await.unwrap())
}

#[tokio::test]
async fn only_other_services_may_ask_and_they_must_ask_well() {
    let harness = Harness::start().await;
    let key = harness.create(Mode::Test).await.key;
    let (status, body) = post(&harness, "guessed", json!({"key": key})).await;
    assert_eq!((status, &body["code"]), (StatusCode::UNAUTHORIZED, &json!("internal_token_invalid")));

    let token = harness.settings.internal.token.expose();
    for bad in [json!({}), json!({"key": null}), json!({"key": 7}), json!([key])] {
        let (status, body) = post(&harness, token, bad.clone()).await;
        assert_eq!((status, &body["code"]), (StatusCode::BAD_REQUEST, &json!("invalid_request")), "{bad}");
        assert!(!body.to_string().contains(&key), "{bad}");
    }
}

#[tokio::test]
async fn the_last_use_is_shown_soon_and_never_goes_back() {
    let harness = Harness::start().await;
    let (used, unused) = (harness.create(Mode::Test).await, harness.create(Mode::Test).await);
    let first = harness.advance(TimeDelta::minutes(1));
    harness.verdict(&used.key).await.unwrap();
    until("the first use is noted", async || harness.view(&used).await.last_used_at == Some(first)).await;

    let second = harness.advance(TimeDelta::minutes(1));
    harness.verdict(&used.key).await.unwrap();
    harness.verdict(&used.key).await.unwrap();
    until("the second use is noted", async || harness.view(&used).await.last_used_at == Some(second)).await;
    assert_eq!(harness.view(&unused).await.last_used_at, None);
}
