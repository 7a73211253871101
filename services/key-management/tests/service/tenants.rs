//! One business never sees or changes another's keys.

use domain::Mode;
use internal_api::PageQuery;
use internal_api::keys::ApiKeySummary;
use serde_json::{Value, json};
use test_kit::refusal;

use crate::harness::Harness;

#[tokio::test]
async fn anothers_keys_do_not_exist() {
    let harness = Harness::start().await;
    let key = harness.create(Mode::Live).await;
    let (id, stranger) = (key.view.id.to_string(), harness.new_business());

    for refused in [
        refusal(harness.keys.read(stranger, &id).await),
        refusal(harness.keys.revoke(stranger, &id, &Value::Null).await),
        refusal(harness.keys.rotate(stranger, &id, None, &json!({"graceSeconds": 0})).await),
    ] {
        assert_eq!((refused.status, refused.code.as_str()), (404, "api_key_not_found"));
    }
    let after = PageQuery { limit: 10, starting_after: Some(id.clone()) };
    assert_eq!(refusal(harness.keys.list(stranger, &after).await).status, 400);
    let all = PageQuery { limit: 10, starting_after: None };
    assert!(harness.keys.list(stranger, &all).await.unwrap().data.is_empty());
    let summary = harness.keys.summary(stranger).await.unwrap();
    assert_eq!(summary, ApiKeySummary { test: false, live: false });

    assert_eq!(harness.keys.read(harness.business, &id).await.unwrap(), key.view);
    assert_eq!(harness.view(&key).await, key.view, "and nothing happened to it");
    assert_eq!(harness.verdict(&key.key).await.unwrap().business_id, harness.business);
}

#[tokio::test]
async fn each_business_has_its_own_list_and_summary() {
    let harness = Harness::start().await;
    let other = harness.new_business();
    let ours = harness.create(Mode::Test).await;
    let theirs = harness.keys.create(other, None, &json!({"mode": "live", "name": "theirs"})).await.unwrap();
    assert_eq!(harness.list().await, std::slice::from_ref(&ours.view));
    let all = PageQuery { limit: 10, starting_after: None };
    assert_eq!(harness.keys.list(other, &all).await.unwrap().data, [theirs.view]);
    let summary = harness.keys.summary(harness.business).await.unwrap();
    assert_eq!(summary, ApiKeySummary { test: true, live: false });
    assert_eq!(harness.keys.summary(other).await.unwrap(), ApiKeySummary { test: false, live: true });

    harness.revoke(&ours).await;
    let summary = harness.keys.summary(harness.business).await.unwrap();
    assert_eq!(summary, ApiKeySummary { test: false, live: false });
}
