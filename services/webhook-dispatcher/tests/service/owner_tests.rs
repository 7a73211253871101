//! Connection tests by the endpoint's owner.

use std::sync::{Arc, OnceLock};

use domain::{Clock, EventKind};
use internal_api::webhooks::{ConnectionTest, DeliveryState, EndpointStatus};
use serde_json::json;
use test_kit::{refusal, until};

use crate::harness::Harness;
use crate::receiver::{Latch, Receiver, reply};

#[tokio::test]
async fn a_test_is_sent_at_once_logged_and_shown() {
    let harness = Harness::unconnected().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    assert_eq!(harness.view(&endpoint).await.connection_test, ConnectionTest::NotTested);

    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    assert!(result.succeeded);
    assert_eq!((result.response_status, &result.error), (Some(200), &None));
    let received = receiver.received().remove(0);
    assert_eq!(result.forged_refused, Some(false), "it takes whatever comes");
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
    let harness = Harness::unconnected().await;
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

    assert_eq!((result.forged_refused, result.forged_event_id), (None, None), "nothing was to be learned");
    assert_eq!(receiver.count(), 1);

    assert!(harness.hooks.test(harness.business, &id).await.unwrap().succeeded);
    let view = harness.view(&endpoint).await;
    assert_eq!((view.connection_test, view.status), (ConnectionTest::Passed, EndpointStatus::Active));
    assert_eq!(receiver.count(), 3, "the second test is followed by a wrong signature");

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
    let harness = Harness::unconnected().await;
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

/// A receiver that verifies signatures once it knows the secret, and answers wrong ones with `refusal`.
fn verifying(secret: Arc<OnceLock<String>>, refusal: u16, now: i64) -> Receiver {
    Receiver::start(move |received, _| {
        let secret = secret.get().expect("the secret");
        let (timestamp, signature) =
            (received.header("service-timestamp"), received.header("service-signature"));
        let verified = webhook_signature::verify(secret, timestamp, signature, &received.body, now, 3_600);
        reply(if verified.is_ok() { 200 } else { refusal })
    })
}

#[tokio::test]
async fn a_receiver_proves_itself_by_refusing_a_wrong_signature() {
    let harness = Harness::unconnected().await;
    let now = harness.clock.now().timestamp();
    for (status, refused, problem) in [
        (401, Some(true), None),
        (200, Some(false), Some("accepted a webhook with a wrong signature")),
        (500, None, Some("it returned 500")),
    ] {
        let secret = Arc::new(OnceLock::new());
        let receiver = verifying(secret.clone(), status, now);
        let endpoint = harness.endpoint(&receiver).await;
        secret.set(endpoint.secret.clone()).unwrap();
        let before = harness.view(&endpoint).await;
        assert_eq!(before.forged_refused, None);
        let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
        assert!(result.succeeded, "the signed one decides");
        assert_eq!(result.forged_refused, refused, "{status}");
        assert_eq!(result.forged_response_status, Some(status.into()));
        let told = result.forged_problem.unwrap_or_default();
        assert_eq!(told.is_empty(), problem.is_none());
        assert!(told.contains(problem.unwrap_or_default()), "{told}");

        let received = receiver.received();
        assert_eq!(received.len(), 2);
        assert_eq!(Some(received[1].id()), result.forged_event_id.map(|id| id.to_string()));
        assert!(received[1].json()["data"]["reason"].as_str().unwrap().contains("wrong on purpose"));
        for name in ["service-signature", "webhook-signature"] {
            assert_ne!(received[1].header(name), received[0].header(name));
        }
        let log = harness.deliveries(&endpoint).await;
        assert_eq!(log.len(), 1, "the wrong one stands in no log");
        assert_eq!(log[0].event_id, result.event_id);
        let view = harness.view(&endpoint).await;
        assert_eq!((view.connection_test, view.status), (ConnectionTest::Passed, EndpointStatus::Active));
        assert_eq!(view.forged_refused, refused);
        assert_eq!(view.last_delivery.label, "Succeeded");

        let verified = harness.hooks.summary(harness.business).await.unwrap().verified;
        if status == 401 {
            let verified = verified.unwrap();
            assert_eq!(Some(verified.forged_event_id), result.forged_event_id);
            assert_eq!(verified.test_event_id, result.event_id);
            // Another URL has proved nothing yet.
            harness.patch(&endpoint, json!({"url": format!("{}?elsewhere", receiver.url())})).await;
        } else {
            assert_eq!(verified, None, "{status}");
        }
    }
}

/// Even if all receivers of one business are slow.
#[tokio::test]
async fn tests_of_one_business_leave_room_for_another_s() {
    const AT_ONCE: usize = 40;
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 600.0;
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let held = latch.clone();
    let slow = Receiver::start(move |_, _| {
        let mut reply = reply(200);
        reply.held = Some(held.clone());
        reply
    });
    let endpoint = harness.endpoint(&slow).await;
    let id = endpoint.view.id.to_string();
    let tests = (0..AT_ONCE).map(|_| {
        let (hooks, business, id) = (harness.hooks.clone(), harness.business, id.clone());
        tokio::spawn(async move { hooks.test(business, &id).await })
    });
    let tests: Vec<_> = tests.collect();
    until("half of the places are taken", async || slow.count() == 32).await;
    let refused = refusal(harness.hooks.test(harness.business, &id).await);
    assert_eq!((refused.status, refused.code.as_str()), (429, "too_many_webhook_tests"));

    let (other, receiver) = (harness.new_business(), Receiver::kind());
    let theirs = harness.hooks.create(other, &json!({"url": receiver.url()})).await.unwrap();
    assert!(harness.hooks.test(other, &theirs.view.id.to_string()).await.unwrap().succeeded);
    latch.open();
    let mut succeeded = 0;
    for test in tests {
        succeeded += usize::from(test.await.unwrap().is_ok());
    }
    assert_eq!(succeeded, 32);
}
