//! Signatures follow SPECIFICATION §5.5, verified by an independent computation.

use chrono::TimeDelta;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::harness::{Harness, TestOrder, some_day};
use crate::receiver::{Received, Receiver};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{Clock, Mode};
use test_kit::until;

fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Computed from the specification, without our code.
fn assert_signed(received: &Received, secret: &str) {
    let mut signed = received.header("service-timestamp").as_bytes().to_vec();
    signed.push(b'.');
    signed.extend_from_slice(&received.body);
    let hex: String = hmac(secret.as_bytes(), &signed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(received.header("service-signature"), format!("sha256={hex}"));

    let (id, timestamp) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    let mut signed = format!("{id}.{timestamp}.").into_bytes();
    signed.extend_from_slice(&received.body);
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert_eq!(received.header("webhook-signature"), format!("v1,{}", STANDARD.encode(hmac(&key, &signed))));
}

#[tokio::test]
async fn a_webhook_carries_every_header_and_verifies() {
    let clock = Clock::manual(some_day());
    let harness = Harness::start_with(|_| {}, clock.clone()).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let order: TestOrder = harness.new_order(Mode::Live);
    let envelope = harness.publish_created(&order).await;
    until("the webhook arrives", async || receiver.count() == 1).await;

    let received = receiver.received().remove(0);
    assert_signed(&received, &endpoint.secret);
    assert_eq!(received.path, "/hook");
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("user-agent"), "Waybill-Webhooks/1");
    assert_eq!(received.header("service-event-id"), envelope.id.to_string());
    assert_eq!(received.header("webhook-id"), envelope.id.to_string());
    assert_eq!(received.header("service-mode"), "live");
    assert_eq!(received.header("service-timestamp"), clock.now().timestamp().to_string());

    let body = received.json();
    assert_eq!(body["id"], json!(envelope.id));
    assert_eq!(body["event"], "order.created");
    assert_eq!(body["sequence"], 1);
    assert_eq!(body["mode"], "live");
    assert_eq!(body["order"]["orderReference"], json!(order.reference));
    assert_eq!(body["order"]["serviceOrderId"], json!(order.id));
    assert_eq!(body["order"]["id"], json!(order.id));

    // The same bytes at every attempt; another time, and so another signature.
    until("its outcome is written", async || harness.succeeded(&endpoint).await).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    clock.advance(TimeDelta::seconds(1));
    harness.hooks.redeliver(harness.business, &delivery.id.to_string()).await.unwrap();
    until("the webhook arrives again", async || receiver.count() == 2).await;
    let again = receiver.received().remove(1);
    assert_signed(&again, &endpoint.secret);
    assert_eq!(again.body, received.body);
    assert_eq!(again.header("service-timestamp"), clock.now().timestamp().to_string());
}
