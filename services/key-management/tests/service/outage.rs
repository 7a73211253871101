//! Without its database the service says that it knows nothing, in bounded time.

use domain::Mode;
use internal_api::CallError;
use serde_json::json;

use crate::harness::{Harness, unknown_key};

#[tokio::test]
async fn without_a_database_nothing_is_known() {
    let harness = Harness::start_alone().await;
    let key = unknown_key(&harness.entropy);
    let url = harness.internal.join("internal/api-keys/verify").unwrap();
    let token = harness.settings.internal.token.expose();
    let answer =
        test_kit::client().post(url).bearer_auth(token).json(&json!({"key": key})).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 503);
    assert!(answer.headers().contains_key("retry-after"));
    let body: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(body["code"], "temporarily_unavailable");

    let created =
        harness.keys.create(harness.business, None, &json!({"mode": Mode::Test, "name": "shop"})).await;
    assert!(matches!(created, Err(CallError::Unavailable { .. })));

    // A mistyped key needs no look-up, so that verdict stands.
    assert_eq!(harness.verdict(&key[..key.len() - 1]).await, None);
}
