//! The identity provider is slow or unreachable.

use chrono::TimeDelta;
use serde_json::json;
use test_kit::until;

use crate::identity_provider::{IdentityProvider, Key, START, come_back, start};
use crate::portal::Portal;
use crate::sso::with_provider;
use crate::staff::person;

#[tokio::test]
async fn an_unreachable_provider_stops_neither_the_start_nor_other_log_ins() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    provider.is_down(true);
    let portal = Portal::with_provider(&provider, &[]).await;
    let mut browser = portal.stranger();
    for _ in 0..3 {
        let refused = browser.post(START, json!({ "purpose": "log_in" })).await;
        assert_eq!((refused.status, refused.code()), (503, "sso_unavailable"), "{refused:?}");
    }
    let metadata = "/.well-known/openid-configuration";
    assert_eq!(provider.asked(metadata).len(), 1, "asked once within ten seconds");
    person(&portal, "binu@operator.example", "viewer").await;

    provider.is_down(false);
    portal.clock.advance(TimeDelta::seconds(10));
    let visit = start(&mut browser).await;
    provider.is_down(true);
    let refused = come_back(&mut browser, &visit).await;
    assert_eq!((refused.status, refused.code()), (503, "sso_unavailable"), "{refused:?}");
    portal.clock.advance(TimeDelta::hours(2));
    start(&mut browser).await;
    assert_eq!(provider.asked(metadata).len(), 3, "the old metadata works while new one cannot be read");
}

#[tokio::test]
async fn a_silent_provider_delays_one_caller_and_no_other() {
    let (portal, provider, _key) = with_provider(&[]).await;
    start(&mut portal.stranger()).await;
    portal.clock.advance(TimeDelta::hours(2));
    provider.is_silent(true);
    let metadata = "/.well-known/openid-configuration";
    let mut waiting = portal.stranger();
    let first = tokio::spawn(async move { start(&mut waiting).await });
    until("the provider is asked", async || provider.asked(metadata).len() == 2).await;
    for _ in 0..3 {
        start(&mut portal.stranger()).await;
    }
    assert!(!first.is_finished(), "the others use the metadata of before");
    assert_eq!(first.await.unwrap().url.path(), "/authorize", "so does the first, when it gives up");
    assert_eq!(provider.asked(metadata).len(), 2);
}

/// Nobody has metadata yet: all wait for the same answer, which comes or not within its time.
#[tokio::test]
async fn simultaneous_first_callers_ask_a_provider_once() {
    let (portal, provider, _key) = with_provider(&[]).await;
    let mut browsers = [portal.stranger(), portal.stranger(), portal.stranger()];
    let [a, b, c] = &mut browsers;
    tokio::join!(start(a), start(b), start(c));
    assert_eq!(provider.asked("/.well-known/openid-configuration").len(), 1);
}
