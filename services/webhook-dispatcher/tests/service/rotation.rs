//! Rotations of signing secrets: a receiver may know either secret.

use chrono::TimeDelta;
use diesel::dsl::sql;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use domain::{Clock, Mode};
use internal_api::webhooks::CreatedEndpoint;
use serde_json::{Value, json};
use test_kit::{invalid_fields, refusal, until};

use crate::harness::{Harness, some_day};
use crate::receiver::{Received, Receiver};

async fn rotate(harness: &Harness, endpoint: &CreatedEndpoint, body: Value) -> CreatedEndpoint {
    let id = endpoint.view.id.to_string();
    harness.hooks.rotate_secret(harness.business, &id, &body).await.expect("a new secret")
}

/// Sends an event and gives what arrived.
async fn send(harness: &Harness, receiver: &Receiver) -> Received {
    let before = receiver.count();
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the webhook arrives", async || receiver.count() == before + 1).await;
    receiver.received().remove(before)
}

fn verifies(received: &Received, header: &str, secret: &str) -> bool {
    let (at, now) = (received.header("service-timestamp"), received.header("service-timestamp"));
    let now = now.parse().expect("seconds");
    webhook_signature::verify(secret, at, received.header(header), &received.body, now, 5).is_ok()
}

fn verifies_standard(received: &Received, secret: &str) -> bool {
    let header = |name| received.header(name);
    let now = header("webhook-timestamp").parse().expect("seconds");
    let (id, at, signatures) =
        (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    webhook_signature::standard::verify(secret, id, at, signatures, &received.body, now, 5).is_ok()
}

fn has(received: &Received, header: &str) -> bool {
    received.headers.iter().any(|(name, _)| name == header)
}

/// Signed by this secret and no other.
fn assert_signed_by(received: &Received, secret: &str) {
    assert!(verifies(received, "service-signature", secret) && verifies_standard(received, secret));
    assert!(!has(received, "service-signature-next"));
    assert!(!received.header("webhook-signature").contains(' '));
}

fn assert_signed_by_both(received: &Received, old: &str, new: &str) {
    assert!(verifies(received, "service-signature", old));
    assert!(verifies(received, "service-signature-next", new));
    assert!(verifies_standard(received, old) && verifies_standard(received, new));
    let signatures: Vec<_> = received.header("webhook-signature").split(' ').collect();
    assert!(signatures.len() == 2 && signatures.iter().all(|one| one.starts_with("v1,")), "{signatures:?}");
}

#[tokio::test]
async fn both_secrets_sign_until_the_new_one_is_activated() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    assert_eq!(endpoint.view.next_secret, None);
    let before = harness.clock.now();
    let rotated = rotate(&harness, &endpoint, Value::Null).await;
    assert_eq!(rotated.view.id, endpoint.view.id);
    assert!(webhook_signature::Secret::parse(&rotated.secret).is_ok() && rotated.secret != endpoint.secret);
    let ends = rotated.view.next_secret.expect("a staged secret").activates_at;
    assert!(ends - before >= TimeDelta::hours(24) && ends - before < TimeDelta::hours(25), "{ends}");
    assert_eq!(harness.view(&endpoint).await.next_secret, rotated.view.next_secret);
    assert_signed_by_both(&send(&harness, &receiver).await, &endpoint.secret, &rotated.secret);
    // An owner's test as well.
    let id = endpoint.view.id.to_string();
    harness.hooks.test(harness.business, &id).await.unwrap();
    assert_signed_by_both(&receiver.received().remove(1), &endpoint.secret, &rotated.secret);

    let active = harness.hooks.activate_secret(harness.business, &id).await.unwrap();
    assert_eq!(active.next_secret, None);
    assert_signed_by(&send(&harness, &receiver).await, &rotated.secret);
    let refused = refusal(harness.hooks.activate_secret(harness.business, &id).await);
    assert_eq!((refused.status, refused.code.as_str()), (409, "webhook_secret_not_staged"));
}

#[tokio::test]
async fn the_grace_period_ends_by_time_alone() {
    let harness = Harness::start_with(|_| {}, Clock::manual(some_day())).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let id = endpoint.view.id.to_string();
    let second = rotate(&harness, &endpoint, json!({"graceSeconds": 60})).await;
    harness.clock.advance(TimeDelta::seconds(59));
    assert_signed_by_both(&send(&harness, &receiver).await, &endpoint.secret, &second.secret);
    harness.clock.advance(TimeDelta::seconds(1));
    assert_eq!(harness.view(&endpoint).await.next_secret, None);
    assert_signed_by(&send(&harness, &receiver).await, &second.secret);
    let refused = refusal(harness.hooks.activate_secret(harness.business, &id).await);
    assert_eq!(refused.code, "webhook_secret_not_staged");

    // By the clock, the first rotation has ended when the next one begins.
    let third = rotate(&harness, &endpoint, json!({"graceSeconds": 600})).await;
    assert_signed_by_both(&send(&harness, &receiver).await, &second.secret, &third.secret);
}

#[tokio::test]
async fn staged_secrets_are_promoted_after_their_time() {
    let mut harness = Harness::start_with(|_| {}, Clock::manual(some_day())).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let rotated = rotate(&harness, &endpoint, json!({"graceSeconds": 1})).await;
    harness.clock.advance(TimeDelta::seconds(1));
    // The worker looks once a minute, and when it starts.
    harness.crash_and_restart().await;
    until("nothing is staged any more", async || {
        let mut conn = harness.connection().await;
        let staged = sql::<BigInt>("(SELECT count(*) FROM endpoints WHERE next_secret_from IS NOT NULL)");
        diesel::select(staged).first::<i64>(&mut conn).await.unwrap() == 0
    })
    .await;
    assert_signed_by(&send(&harness, &receiver).await, &rotated.secret);
}

#[tokio::test]
async fn without_a_grace_period_all_old_secrets_end_at_once() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let rotated = rotate(&harness, &endpoint, json!({"graceSeconds": 0})).await;
    assert_eq!(rotated.view.next_secret, None);
    assert_signed_by(&send(&harness, &receiver).await, &rotated.secret);
    rotate(&harness, &endpoint, json!({})).await;
    let last = rotate(&harness, &endpoint, json!({"graceSeconds": 0})).await;
    assert_signed_by(&send(&harness, &receiver).await, &last.secret);
}

#[tokio::test]
async fn a_staged_secret_is_replaced_only_on_purpose() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let id = endpoint.view.id.to_string();
    let staged = rotate(&harness, &endpoint, json!({"graceSeconds": 3_600})).await;
    let again = harness.hooks.rotate_secret(harness.business, &id, &json!({})).await;
    let refused = refusal(again);
    assert_eq!((refused.status, refused.code.as_str()), (409, "webhook_secret_rotation_under_way"));
    assert_signed_by_both(&send(&harness, &receiver).await, &endpoint.secret, &staged.secret);
    let replaced = rotate(&harness, &endpoint, json!({"replaceStaged": true})).await;
    assert_signed_by_both(&send(&harness, &receiver).await, &endpoint.secret, &replaced.secret);
}

#[tokio::test]
async fn bad_rotations_are_refused() {
    let harness = Harness::unconnected().await;
    let endpoint = harness.endpoint(&Receiver::kind()).await;
    let id = endpoint.view.id.to_string();
    for (body, fields) in [
        (json!({"graceSeconds": -1}), vec!["graceSeconds"]),
        (json!({"graceSeconds": 604_801}), vec!["graceSeconds"]),
        (json!({"graceSeconds": "60"}), vec!["graceSeconds"]),
        (json!({"replaceStaged": 1, "grace": 5}), vec!["grace", "replaceStaged"]),
        (json!([]), vec![""]),
    ] {
        let refused = refusal(harness.hooks.rotate_secret(harness.business, &id, &body).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, fields), "{body}");
    }
    assert_eq!(harness.view(&endpoint).await.next_secret, None);
    let hooks = &harness.hooks;
    for (business, id) in [
        (harness.new_business(), id.as_str()),
        (harness.business, "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (harness.business, "nonsense"),
    ] {
        let refused = [
            refusal(hooks.rotate_secret(business, id, &json!({})).await),
            refusal(hooks.activate_secret(business, id).await),
        ];
        assert!(refused.iter().all(|one| one.status == 404 && one.code == "webhook_endpoint_not_found"));
    }
}
