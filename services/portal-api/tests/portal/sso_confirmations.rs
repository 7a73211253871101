//! Confirmations of console sessions at the identity provider.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::client::Client;
use crate::identity_provider::{START, Visit, come_back, log_in};
use crate::sso::{entries, with_provider};
use crate::staff::SESSION;

/// Needs a recent authentication.
const TOKENS: &str = "/v1/operator/tokens";
const RECENT: (&str, &str) = ("WAYBILL_MFA__RECENT_MINUTES", "15");

fn token(name: &str) -> Value {
    json!({ "name": name, "role": "viewer" })
}

#[tokio::test]
async fn the_provider_confirms_a_session_if_the_same_person_authenticates_again() {
    let (portal, provider, key) = with_provider(&[RECENT]).await;
    let at = (&provider, &key);
    let mut asha = portal.stranger();
    log_in(&portal, at, &mut asha, &json!({})).await;
    assert_eq!(asha.post(TOKENS, token("first")).await.status, 201, "the log-in counts");
    portal.clock.advance(TimeDelta::minutes(16));
    assert_eq!(asha.post(TOKENS, token("late")).await.code(), "recent_authentication_required");
    let password = json!({ "password": "battery staple" });
    let by_password = asha.post(&format!("{SESSION}/confirm"), password).await;
    assert_eq!((by_password.status, by_password.code()), (403, "password_log_in_off"), "{by_password:?}");

    let mut before = asha.clone();
    let started_at = portal.clock.now().timestamp();
    for (what, claims, status, code) in [
        ("a session at the provider", json!({ "auth_time": started_at - 61 }), 403, "sso_not_recent"),
        ("an older token", json!({ "auth_time": null, "iat": started_at - 61 }), 403, "sso_not_recent"),
        ("another person", json!({ "sub": "person-2" }), 403, "sso_other_person"),
        ("the same person, without a statement when", json!({ "auth_time": null }), 204, ""),
    ] {
        let visit = Visit::of(&asha.post(START, json!({ "purpose": "confirm" })).await);
        assert_eq!((visit.query["max_age"].as_str(), visit.query["prompt"].as_str()), ("0", "login"));
        provider.issue(&key.sign(&provider.claims(&portal, &visit, &claims)));
        let confirmed = come_back(&mut asha, &visit).await;
        assert_eq!((confirmed.status, confirmed.code()), (status, code), "{what}: {confirmed:?}");
        let is_recent = asha.post(TOKENS, token(what)).await.status == 201;
        assert_eq!(is_recent, status == 204, "{what}");
    }
    assert_eq!(entries(&portal, "session.confirmed").await.len(), 1);
    assert_eq!(before.get(SESSION).await.status, 401, "the session has a new token");

    // A visit that was started in another session confirms nothing.
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "confirm" })).await);
    let waiting = asha.clone();
    let mut later = portal.stranger();
    log_in(&portal, at, &mut later, &json!({})).await;
    let session = |client: &Client, name: &str| client.cookie(name).unwrap();
    let mut mixed = portal.stranger().with_header(
        "cookie",
        &format!("{}; {}", session(&waiting, "operator_sso"), session(&later, "operator_session")),
    );
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let refused = come_back(&mut mixed, &visit).await;
    assert_eq!((refused.status, refused.code()), (422, "sso_ended"), "{refused:?}");
}

/// The groups at hand count, as at a log-in.
#[tokio::test]
async fn a_confirmation_without_a_group_ends_the_sessions_and_another_role_confirms_none() {
    let (portal, provider, key) = with_provider(&[RECENT]).await;
    let at = (&provider, &key);
    let (mut asha, mut elsewhere) = (portal.stranger(), portal.stranger());
    let opened = log_in(&portal, at, &mut asha, &json!({})).await;
    log_in(&portal, at, &mut elsewhere, &json!({})).await;
    portal.clock.advance(TimeDelta::minutes(16));
    for (groups, status, code) in [(json!(["all"]), 422, "sso_ended"), (json!([]), 403, "sso_no_role")] {
        assert_eq!(asha.get(SESSION).await.body["role"], "administrator", "{groups}: unchanged");
        let visit = Visit::of(&asha.post(START, json!({ "purpose": "confirm" })).await);
        provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({ "groups": groups }))));
        let refused = come_back(&mut asha, &visit).await;
        assert_eq!((refused.status, refused.code()), (status, code), "{groups}: {refused:?}");
        assert!(!refused.header("set-cookie").contains("operator_session="), "{groups}: {refused:?}");
        assert!(asha.post(TOKENS, token("late")).await.status >= 400, "{groups}: nothing is confirmed");
    }
    for client in [&mut asha, &mut elsewhere] {
        assert_eq!(client.get(SESSION).await.status, 401, "without a role");
    }
    assert!(entries(&portal, "session.confirmed").await.is_empty());
    let lost = entries(&portal, "session.revoked").await;
    assert_eq!((lost.len(), &lost[0]["details"]), (1, &json!({ "singleSignOn": "no_role", "sessions": 2 })));
    assert_eq!((&lost[0]["actor"]["id"], &lost[0]["address"]), (&opened.body["id"], &json!("127.0.0.1")));
}

#[tokio::test]
async fn a_log_in_without_a_group_leaves_an_entry_about_the_lost_access() {
    let (portal, provider, key) = with_provider(&[]).await;
    let at = (&provider, &key);
    let opened = log_in(&portal, at, &mut portal.stranger(), &json!({})).await;
    let refused = log_in(&portal, at, &mut portal.stranger(), &json!({ "groups": [] })).await;
    assert_eq!(refused.code(), "sso_no_role", "{refused:?}");
    let lost = entries(&portal, "session.revoked").await;
    assert_eq!((lost.len(), &lost[0]["details"]), (1, &json!({ "singleSignOn": "no_role", "sessions": 1 })));
    assert_eq!(lost[0]["actor"]["id"], opened.body["id"]);
}

/// Otherwise an open session at the provider would confirm without the person.
#[tokio::test]
async fn an_old_authentication_at_the_provider_is_no_recent_one_here() {
    let (portal, provider, key) = with_provider(&[RECENT]).await;
    let at = (&provider, &key);
    let now = portal.clock.now().timestamp();
    for (auth_time, opens, is_recent) in [
        (json!(now), true, true),
        (json!(now - 3_600), true, false),
        (json!(now - 13 * 3_600), false, false),
        (Value::Null, true, false),
        // The future counts as now.
        (json!(now + 86_400), true, true),
    ] {
        let mut browser = portal.stranger();
        let opened = log_in(&portal, at, &mut browser, &json!({ "auth_time": auth_time })).await;
        assert_eq!(opened.status == 200, opens, "{auth_time}: {opened:?}");
        let created = browser.post(TOKENS, token(&format!("at {auth_time}"))).await;
        assert_eq!(created.status == 201, is_recent, "{auth_time}: {created:?}");
    }
    let mut browser = portal.stranger();
    log_in(&portal, at, &mut browser, &json!({ "auth_time": now + 86_400 })).await;
    portal.clock.advance(TimeDelta::minutes(16));
    assert_eq!(browser.post(TOKENS, token("future")).await.code(), "recent_authentication_required");
}
