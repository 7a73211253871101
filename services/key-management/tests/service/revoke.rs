//! Revoking keys.

use chrono::TimeDelta;
use domain::Mode;
use futures_util::future::join_all;
use serde_json::{Value, json};
use test_kit::refusal;

use crate::harness::Harness;

#[tokio::test]
async fn a_revoked_key_stops_at_once_and_is_announced_once() {
    let mut harness = Harness::connected().await;
    let (key, other) = (harness.create(Mode::Live).await, harness.create(Mode::Live).await);
    let at = harness.advance(TimeDelta::minutes(5));
    let revoked = harness.revoke(&key).await;
    assert_eq!(revoked.revoked_at, Some(at));
    assert_eq!(harness.verdict(&key.key).await, None);
    assert!(harness.verdict(&other.key).await.is_some());
    assert_eq!(harness.next_revoked().await, key.view.id);

    harness.advance(TimeDelta::minutes(5));
    assert_eq!(harness.revoke(&key).await, revoked, "repeated: the same answer");
    harness.revoke(&other).await;
    assert_eq!(harness.next_revoked().await, other.view.id, "repeating announced nothing");
}

#[tokio::test]
async fn revoking_at_the_same_time_announces_once() {
    let mut harness = Harness::connected().await;
    let (key, other) = (harness.create(Mode::Test).await, harness.create(Mode::Test).await);
    let id = key.view.id.to_string();
    let outcomes = join_all((0..8).map(|_| harness.keys.revoke(harness.business, &id, &Value::Null))).await;
    let first = outcomes[0].as_ref().unwrap();
    assert!(first.view.revoked_at.is_some());
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().unwrap() == first));
    harness.revoke(&other).await;
    assert_eq!(harness.next_revoked().await, key.view.id);
    assert_eq!(harness.next_revoked().await, other.view.id);
}

/// The chain passes a key that was rotated without a grace period.
#[tokio::test]
async fn the_predecessors_in_their_grace_are_revoked_with_the_key_unless_they_are_kept() {
    let mut harness = Harness::connected().await;
    let first = harness.create(Mode::Live).await;
    let leaked = harness.rotate(&first, 86_400).await;
    harness.advance(TimeDelta::hours(1));
    let third = harness.rotate(&leaked, 0).await;
    assert_eq!(harness.next_revoked().await, leaked.view.id);
    let last = harness.rotate(&third, 900).await;
    assert_eq!(last.view.replaces, Some(third.view.id));

    harness.advance(TimeDelta::minutes(1));
    let kept = harness.revoke_with(&last, json!({ "keepPredecessor": true })).await;
    assert_eq!(kept.also_revoked, []);
    assert_eq!(harness.next_revoked().await, last.view.id);
    assert!(harness.verdict(&third.key).await.is_some());

    let at = harness.advance(TimeDelta::minutes(5));
    for _ in 0..2 {
        let revoked = harness.revoke_with(&last, Value::Null).await;
        assert_eq!(revoked.view, kept.view, "its own end stays");
        let also: Vec<_> = revoked.also_revoked.iter().map(|key| (key.id, key.revoked_at)).collect();
        assert_eq!(also, [(third.view.id, Some(at)), (first.view.id, Some(at))]);
    }
    assert_eq!(harness.next_revoked().await, third.view.id);
    assert_eq!(harness.next_revoked().await, first.view.id);
    for key in [&first, &third] {
        assert_eq!(harness.verdict(&key.key).await, None);
    }

    // A grace period that has ended is no revocation by the caller.
    let old = harness.create(Mode::Live).await;
    let new = harness.rotate(&old, 900).await;
    harness.advance(TimeDelta::minutes(15));
    assert_eq!(harness.revoke_with(&new, json!({})).await.also_revoked, []);
    let id = new.view.id.to_string();
    let refused = refusal(harness.keys.revoke(harness.business, &id, &json!({ "keepPredecesor": 1 })).await);
    assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"));
}

#[tokio::test]
async fn an_unknown_key_cannot_be_revoked() {
    let harness = Harness::start().await;
    let unknown = domain::ApiKeyId::generate(&harness.clock, &harness.entropy).to_string();
    for id in [unknown.as_str(), "key_", "nonsense", "key_01ARZ3NDEKTSV4RRFFQ69G5FAV/../x"] {
        let refused = refusal(harness.keys.revoke(harness.business, id, &Value::Null).await);
        assert_eq!((refused.status, refused.code.as_str()), (404, "api_key_not_found"), "{id}");
    }
}
