//! The erasure of a closed business's keys.

use diesel_async::SimpleAsyncConnection;
use internal_api::PageQuery;
use internal_api::keys::ApiKeyView;
use serde_json::json;

use crate::harness::Harness;

/// More than one call erases.
const MANY: u32 = 600;

#[tokio::test]
async fn names_and_networks_of_a_closed_business_are_erased() {
    let harness = Harness::start().await;
    let (business, other) = (harness.business, harness.new_business());
    let body = json!({"mode": "live", "name": "Asha", "ipAllowList": ["203.0.113.0/24"]});
    let ours = harness.keys.create(business, None, &body).await.unwrap();
    let theirs = harness.keys.create(other, None, &body).await.unwrap();
    let successor = harness.rotate(&ours, 3_600).await;
    let erase = async || harness.keys.erase_business(business).await.unwrap().complete;
    for key in [&ours, &successor] {
        assert!(!erase().await, "a key works");
        harness.revoke(key).await;
    }
    let before = harness.list().await;
    assert!(before.iter().all(|key| key.name == "Asha"), "{before:?}");

    for _ in 0..2 {
        assert!(erase().await);
        let erased = |key| ApiKeyView { name: "Erased key".into(), ip_allow_list: None, ..key };
        let expected: Vec<ApiKeyView> = before.clone().into_iter().map(erased).collect();
        assert_eq!(harness.list().await, expected);
    }
    let all = PageQuery { limit: 10, starting_after: None };
    assert_eq!(harness.keys.list(other, &all).await.unwrap().data, [theirs.view]);
    assert_eq!(harness.verdict(&theirs.key).await.unwrap().business_id, other);
}

#[tokio::test]
async fn a_call_erases_a_bounded_part_and_requires_the_internal_token() {
    let harness = Harness::start().await;
    let business = harness.business;
    let many = format!(
        "INSERT INTO api_keys (id, business_id, mode, name, key_hash, prefix, last_four, created_at, revoked_at)
         SELECT 'key_' || lpad(n::text, 26, '0'), '{business}', 'test', 'shop', sha256(n::text::bytea), 'p', '0000',
             now(), now()
         FROM generate_series(1, {MANY}) AS n"
    );
    harness.connection().await.batch_execute(&many).await.unwrap();
    let url = harness.internal.join(&format!("internal/businesses/{business}/erasure")).unwrap();
    let refused = test_kit::client().post(url).send().await.unwrap();
    assert_eq!(refused.status().as_u16(), 401);
    for complete in [false, true, true] {
        assert_eq!(harness.keys.erase_business(business).await.unwrap().complete, complete);
    }
}
