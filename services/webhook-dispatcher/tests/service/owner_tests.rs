//! The owner's test of an endpoint.

use domain::EventKind;
use internal_api::webhooks::{ConnectionTest, DeliveryState, EndpointStatus};
use serde_json::json;

use crate::harness::{Harness, refusal};
use crate::receiver::{Receiver, reply};

#[tokio::test]
async fn a_test_is_sent_at_once_logged_and_shown() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    assert_eq!(harness.view(&endpoint).await.connection_test, ConnectionTest::NotTested);

    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    assert!(result.succeeded);
    assert_eq!((result.response_status, &result.error), (Some(200), &None));
    let received = receiver.received().remove(0);
    let body = received.json();
    assert_eq!((&body["event"], &body["mode"]), (&json!("webhook.test"), &json!("test")));
    assert_eq!(received.id(), result.event_id.to_string());
    assert!(body["order"]["trackingCode"].as_str().unwrap().starts_with("TEST-"));
    let verified = webhook_signature::verify(
        &endpoint.secret,
        received.header("service-timestamp"),
        received.header("service-signature"),
        &received.body,
        harness.clock.now().timestamp(),
        60,
    );
    assert_eq!(verified, Ok(()));

    let view = harness.view(&endpoint).await;
    assert_eq!(view.connection_test, ConnectionTest::Passed);
    assert_eq!(view.last_delivery.label, "Succeeded");
    let log = harness.deliveries(&endpoint).await;
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].event, log[0].status), (EventKind::WebhookTest, DeliveryState::Succeeded));
    assert_eq!(harness.details(&log[0]).await.attempt_log.len(), 1);
}

#[tokio::test]
async fn a_test_that_fails_is_not_repeated_and_the_next_one_decides() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, before| reply(if before == 0 { 401 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    let id = endpoint.view.id.to_string();
    let result = harness.hooks.test(harness.business, &id).await.unwrap();
    assert!(!result.succeeded);
    assert_eq!(result.response_status, Some(401));
    assert!(result.error.unwrap().contains("signing secret"));
    let view = harness.view(&endpoint).await;
    assert_eq!((view.connection_test, view.status), (ConnectionTest::Failed, EndpointStatus::Failing));
    assert_eq!(harness.deliveries(&endpoint).await[0].status, DeliveryState::Failed);
    let summary = harness.hooks.summary(harness.business).await.unwrap();
    assert_eq!(summary.connection_test, ConnectionTest::Failed);

    assert!(harness.hooks.test(harness.business, &id).await.unwrap().succeeded);
    let view = harness.view(&endpoint).await;
    assert_eq!((view.connection_test, view.status), (ConnectionTest::Passed, EndpointStatus::Active));
    assert_eq!(receiver.count(), 2);

    // Another URL has not been tested.
    let moved = Receiver::kind();
    assert_eq!(
        harness.patch(&endpoint, json!({"url": receiver.url()})).await.connection_test,
        ConnectionTest::Passed
    );
    assert_eq!(
        harness.patch(&endpoint, json!({"url": moved.url()})).await.connection_test,
        ConnectionTest::NotTested
    );
}

#[tokio::test]
async fn a_paused_endpoint_can_be_tested_and_an_unknown_one_cannot() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    harness.patch(&endpoint, json!({"status": "paused"})).await;
    assert!(harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap().succeeded);
    assert_eq!(harness.view(&endpoint).await.status, EndpointStatus::Paused);

    for unknown in ["whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"] {
        let refused = refusal(harness.hooks.test(harness.business, unknown).await);
        assert_eq!((refused.status, refused.code.as_str()), (404, "webhook_endpoint_not_found"));
    }
}
