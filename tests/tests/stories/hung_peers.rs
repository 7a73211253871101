//! A hanging service, which is worse than an unreachable one: cached answers are used, and orders do not each wait for
//! a timeout (SPECIFICATION §10).

use demo::eventually;
use local_stack::{Service, Stack};
use serde_json::json;
use waybill_tests::{Business, PATIENCE, smallest_order, text};

/// If each call waited for its timeout, they would outlast the minute in which a cached answer is valid.
const ORDERS: usize = 25;

#[tokio::test(flavor = "multi_thread")]
async fn orders_continue_while_key_management_hangs() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let business = Business::sign_up(&stack).await?;
    let key = business.integration(&business.test_key)?;
    let other =
        business.portal.post("/api-keys", &json!({ "mode": "test", "name": "other" })).await?.expect(201)?;
    let never_seen = business.integration(&text(&other, "key")?)?;
    key.create("before", &smallest_order("before")).await?.expect(201)?;

    stack.pause(Service::KeyManagement)?;
    for number in 0..ORDERS {
        let reference = format!("meanwhile-{number}");
        key.create(&reference, &smallest_order(&reference)).await?.expect(201)?;
    }
    let unknown = never_seen.create("unknown", &smallest_order("unknown")).await?;
    assert_eq!(
        (unknown.status.as_u16(), unknown.code()),
        (503, "temporarily_unavailable"),
        "{}",
        unknown.text
    );
    assert!(unknown.header("Retry-After").is_some());

    stack.resume(Service::KeyManagement)?;
    never_seen.create("unknown", &smallest_order("unknown")).await?.expect(201)?;
    let keys = business.portal.get("/api-keys").await?;
    for listed in keys["data"].as_array().into_iter().flatten() {
        let path = format!("/api-keys/{}/revoke", text(listed, "id")?);
        business.portal.post(&path, &json!({})).await?.expect(200)?;
    }
    for revoked in [&key, &never_seen] {
        eventually("a revoked key to be refused", PATIENCE, || async {
            let asked = revoked.create("after", &smallest_order("after")).await?;
            Ok((asked.code() == "invalid_api_key").then_some(()))
        })
        .await?;
    }
    stack.shut_down().await
}
