//! Businesses cannot see or change each other's data.

use domain::Mode;
use internal_api::PageQuery;
use serde_json::json;
use test_kit::{refusal, until};

use crate::harness::{Harness, TestOrder};
use crate::receiver::Receiver;

#[tokio::test]
async fn businesses_are_isolated() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("it arrives", async || receiver.count() == 1).await;
    until("it is logged", async || harness.deliveries(&endpoint).await.len() == 1).await;
    let (mine, delivery) = (endpoint.view.id.to_string(), harness.deliveries(&endpoint).await.remove(0));
    let delivery = delivery.id.to_string();

    let (hooks, other) = (&harness.hooks, harness.new_business());
    let page = PageQuery { limit: 10, starting_after: None };
    assert_eq!(hooks.list(other, &page).await.unwrap().data, []);
    assert_eq!(hooks.summary(other).await.unwrap().status, None);
    let not_found = [
        refusal(hooks.get(other, &mine).await),
        refusal(hooks.update(other, &mine, &json!({"status": "paused"})).await),
        refusal(hooks.test(other, &mine).await),
        refusal(hooks.deliveries(other, &mine, "").await),
        refusal(hooks.delete(other, &mine).await),
    ];
    assert!(not_found.iter().all(|one| one.status == 404 && one.code == "webhook_endpoint_not_found"));
    let not_found =
        [refusal(hooks.delivery(other, &delivery).await), refusal(hooks.redeliver(other, &delivery).await)];
    assert!(not_found.iter().all(|one| one.status == 404 && one.code == "webhook_delivery_not_found"));
    let foreign_start = PageQuery { limit: 10, starting_after: Some(mine.clone()) };
    assert_eq!(refusal(hooks.list(other, &foreign_start).await).status, 400);
    assert_eq!(harness.view(&endpoint).await.status.to_string(), "active");
    assert_eq!(receiver.count(), 1);

    // Events of the other business are not sent to this one's endpoint.
    let foreign = TestOrder { business: other, ..harness.new_order(Mode::Live) };
    harness.publish_created(&foreign).await;
    let own = harness.new_order(Mode::Live);
    harness.publish_created(&own).await;
    until("the own one arrives", async || receiver.sequences(&own.reference) == [1]).await;
    assert!(receiver.sequences(&foreign.reference).is_empty());
}

#[tokio::test]
async fn the_internal_token_is_required() {
    let harness = Harness::unconnected().await;
    let url = harness
        .internal
        .join(&format!("internal/businesses/{}/webhook-endpoints", harness.business))
        .unwrap();
    let answer = test_kit::client().get(url).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
}
