//! The deletion of a closed business's endpoints and log.

use diesel_async::SimpleAsyncConnection;
use domain::{BusinessId, EventKind, Mode};
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, TestOrder};
use crate::receiver::Receiver;

/// More than one call deletes.
const MANY: u32 = 600;
const TABLES: [&str; 8] = [
    "endpoints",
    "endpoint_health",
    "endpoint_notices",
    "recoveries",
    "deliveries",
    "attempts",
    "events",
    "held_back_events",
];
/// A recovery that has ended and a warning, of each endpoint.
const HISTORY: &str = "
    INSERT INTO recoveries (id, business_id, endpoint_id, since, until, state, total, done, after_id, created_at, ended_at)
    SELECT 'whr_' || substr(id, 5), business_id, id, now() - interval '1 hour', now(), 'completed', 0, 0, '', now(), now()
    FROM endpoints;
    INSERT INTO endpoint_notices (endpoint_id, business_id, failing_since, percent, told_at)
    SELECT id, business_id, now(), 50, now() FROM endpoints";

#[tokio::test]
async fn nothing_is_left_of_the_endpoints_of_a_closed_business() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let (business, other) = (harness.business, harness.new_business());
    let endpoint = harness.endpoint(&receiver).await;
    harness.hooks.create(other, &json!({ "url": receiver.url() })).await.unwrap();
    harness.connection().await.batch_execute(HISTORY).await.unwrap();
    for of in [business, other] {
        let [order, gap] = [(); 2].map(|()| TestOrder { business: of, ..harness.new_order(Mode::Live) });
        harness.publish_created(&order).await;
        harness.publish(&[harness.envelope(&gap, 2, EventKind::DriverAssigned)]).await;
    }
    let rows = async |of: BusinessId| {
        let mut rows = Vec::new();
        for table in TABLES {
            rows.push(harness.count(&format!("{table} WHERE business_id = '{of}'")).await);
        }
        rows
    };
    until("all is stored", async || rows(business).await == [1; 8] && rows(other).await == [1; 8]).await;
    until("it is over", async || harness.succeeded(&endpoint).await).await;
    let erase = async || harness.hooks.erase_business(business).await.unwrap().complete;
    assert!(!erase().await, "the business has an endpoint");
    assert_eq!(rows(business).await, [1; 8]);

    harness.fill(&endpoint, MANY).await;
    harness.hooks.delete(business, &endpoint.view.id.to_string()).await.unwrap();
    assert!(!erase().await, "a call deletes a bounded part");
    until("all is deleted", async || erase().await).await;
    assert_eq!(rows(business).await, [0; 8]);
    assert!(erase().await, "repeated");
    until("the other one's is over", async || {
        harness.count(&format!("deliveries WHERE business_id = '{other}' AND state = 'succeeded'")).await == 1
    })
    .await;
    assert_eq!(rows(other).await, [1; 8]);
}

#[tokio::test]
async fn an_endpoint_stays_until_its_waiting_deliveries_are_discarded() {
    let harness = Harness::start().await;
    let endpoint = harness.endpoint(&Receiver::kind()).await;
    harness.patch(&endpoint, json!({ "status": "paused" })).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it waits", async || harness.deliveries(&endpoint).await.len() == 1).await;
    harness.hooks.delete(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    until("all is deleted", async || harness.hooks.erase_business(harness.business).await.unwrap().complete)
        .await;
    assert_eq!(harness.count("deliveries").await + harness.count("endpoints").await, 0);
    let url = format!("internal/businesses/{}/erasure", harness.business);
    let refused = test_kit::client().post(harness.internal.join(&url).unwrap()).send().await.unwrap();
    assert_eq!(refused.status().as_u16(), 401);
}
