//! Rotating keys, with and without a grace.

use chrono::TimeDelta;
use domain::Mode;
use futures_util::future::join_all;
use serde_json::json;
use test_kit::{invalid_fields, refusal, until};

use crate::harness::Harness;

#[tokio::test]
async fn both_keys_work_until_the_grace_ends() {
    let mut harness = Harness::connected().await;
    let old = harness.create(Mode::Live).await;
    let end = harness.clock.now() + TimeDelta::seconds(900);
    let new = harness.rotate(&old, 900).await;
    assert_ne!(new.key, old.key);
    assert_eq!((new.view.mode, new.view.name.as_str()), (Mode::Live, "shop"));

    let verdict = harness.verdict(&old.key).await.unwrap();
    assert_eq!((verdict.key_id, verdict.expires_at), (old.view.id, Some(end)));
    assert_eq!(harness.verdict(&new.key).await.unwrap().expires_at, None);
    assert_eq!(harness.view(&old).await.expires_at, Some(end));

    let step = TimeDelta::microseconds(1);
    harness.advance(TimeDelta::seconds(900) - step);
    assert!(harness.verdict(&old.key).await.is_some());
    harness.advance(step);
    assert_eq!(harness.verdict(&old.key).await, None);
    harness.expire_now();
    assert_eq!(harness.next_revoked().await, old.view.id);
    assert_eq!(harness.view(&old).await.revoked_at, Some(end));
    assert!(harness.verdict(&new.key).await.is_some());
    assert_eq!(harness.view(&new).await.revoked_at, None);
}

#[tokio::test]
async fn without_a_grace_the_old_key_stops_at_once() {
    let mut harness = Harness::connected().await;
    let old = harness.create(Mode::Test).await;
    let new = harness.rotate(&old, 0).await;
    assert_eq!(harness.verdict(&old.key).await, None);
    assert_eq!(harness.view(&old).await.revoked_at, Some(harness.clock.now()));
    assert_eq!(harness.next_revoked().await, old.view.id);
    assert!(harness.verdict(&new.key).await.is_some());
}

#[tokio::test]
async fn revoking_ends_a_grace() {
    let mut harness = Harness::connected().await;
    let old = harness.create(Mode::Test).await;
    let new = harness.rotate(&old, 86_400).await;
    let now = harness.advance(TimeDelta::hours(1));
    assert_eq!(harness.revoke(&old).await.revoked_at, Some(now));
    assert_eq!(harness.verdict(&old.key).await, None);
    assert_eq!(harness.next_revoked().await, old.view.id);
    // The end of the grace, which is past then, is no second end.
    harness.advance(TimeDelta::days(2));
    harness.revoke(&new).await;
    assert_eq!(harness.next_revoked().await, new.view.id);
    assert_eq!(harness.view(&old).await.revoked_at, Some(now));
}

#[tokio::test]
async fn many_graces_end_together() {
    let mut harness = Harness::connected().await;
    let mut old = Vec::new();
    for _ in 0..10 {
        let key = harness.create(Mode::Test).await;
        harness.rotate(&key, 3_600).await;
        old.push(key.view.id);
    }
    harness.advance(TimeDelta::hours(1));
    harness.expire_now();
    let mut ended = Vec::new();
    for _ in 0..10 {
        ended.push(harness.next_revoked().await);
    }
    ended.sort();
    old.sort();
    assert_eq!(ended, old);
}

#[tokio::test]
async fn a_key_has_one_successor() {
    let harness = Harness::start().await;
    let old = harness.create(Mode::Test).await;
    let (id, body) = (old.view.id.to_string(), json!({"graceSeconds": 900}));
    let outcomes = join_all((0..6).map(|_| harness.keys.rotate(harness.business, &id, None, &body))).await;
    let (rotated, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((rotated.len(), refused.len()), (1, 5));
    for outcome in refused {
        let refused = refusal(outcome);
        assert_eq!((refused.status, refused.code.as_str()), (409, "api_key_already_rotated"));
    }
    assert_eq!(harness.list().await.len(), 2);
}

#[tokio::test]
async fn what_works_no_longer_cannot_be_rotated() {
    let harness = Harness::start().await;
    let (revoked, expired) = (harness.create(Mode::Test).await, harness.create(Mode::Test).await);
    harness.revoke(&revoked).await;
    harness.rotate(&expired, 900).await;
    harness.advance(TimeDelta::minutes(15));
    for key in [revoked, expired] {
        let outcome = harness
            .keys
            .rotate(harness.business, &key.view.id.to_string(), None, &json!({"graceSeconds": 0}))
            .await;
        let refused = refusal(outcome);
        assert_eq!((refused.status, refused.code.as_str()), (409, "api_key_revoked"));
    }
    let unknown = domain::ApiKeyId::generate(&harness.clock, &harness.entropy).to_string();
    let refused =
        refusal(harness.keys.rotate(harness.business, &unknown, None, &json!({"graceSeconds": 0})).await);
    assert_eq!((refused.status, refused.code.as_str()), (404, "api_key_not_found"));
}

#[tokio::test]
async fn there_are_five_graces() {
    let harness = Harness::start().await;
    let key = harness.create(Mode::Test).await;
    let id = key.view.id.to_string();
    for bad in
        [json!({}), json!({"graceSeconds": 60}), json!({"graceSeconds": -1}), json!({"graceSeconds": "900"})]
    {
        let refused = refusal(harness.keys.rotate(harness.business, &id, None, &bad).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{bad}");
        assert_eq!(invalid_fields(&refused), ["graceSeconds"], "{bad}");
    }
    assert_eq!(harness.view(&key).await.expires_at, None);
    let mut key = key;
    for grace in [86_400, 21_600, 3_600, 900, 0] {
        key = harness.rotate(&key, grace).await;
    }
}

#[tokio::test]
async fn a_grace_counts_towards_the_limit() {
    let harness = Harness::start().await;
    let key = harness.create(Mode::Test).await;
    for _ in 1..20 {
        harness.create(Mode::Test).await;
    }
    let id = key.view.id.to_string();
    let refused =
        refusal(harness.keys.rotate(harness.business, &id, None, &json!({"graceSeconds": 900})).await);
    assert_eq!((refused.status, refused.code.as_str()), (409, "too_many_keys"));
    assert_eq!(harness.verdict(&key.key).await.unwrap().expires_at, None, "nothing changed");

    let successor = harness.rotate(&key, 0).await;
    let before = harness.list().await.len();
    assert_eq!(before, 21);
    harness.revoke(&successor).await;
    harness.create(Mode::Test).await;
    until("the summary follows", async || harness.keys.summary(harness.business).await.unwrap().test).await;
}
