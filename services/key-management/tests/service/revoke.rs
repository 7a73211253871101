//! Revoking keys.

use chrono::TimeDelta;
use domain::Mode;
use futures_util::future::join_all;
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
    let outcomes = join_all((0..8).map(|_| harness.keys.revoke(harness.business, &id))).await;
    let first = outcomes[0].as_ref().unwrap();
    assert!(first.revoked_at.is_some());
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().unwrap() == first));
    harness.revoke(&other).await;
    assert_eq!(harness.next_revoked().await, key.view.id);
    assert_eq!(harness.next_revoked().await, other.view.id);
}

#[tokio::test]
async fn an_unknown_key_cannot_be_revoked() {
    let harness = Harness::start().await;
    let unknown = domain::ApiKeyId::generate(&harness.clock, &harness.entropy).to_string();
    for id in [unknown.as_str(), "key_", "nonsense", "key_01ARZ3NDEKTSV4RRFFQ69G5FAV/../x"] {
        let refused = refusal(harness.keys.revoke(harness.business, id).await);
        assert_eq!((refused.status, refused.code.as_str()), (404, "api_key_not_found"), "{id}");
    }
}
