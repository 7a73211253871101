//! Single sign-on of the staff: accounts, roles, links, confirmations and log-outs. Attacks are in `sso_attacks`, and a real
//! provider in `sso_provider`.

use chrono::TimeDelta;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use test_kit::until;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::authenticator::MFA_KEY;
use crate::client::Client;
use crate::identity_provider::{COMPLETE, IdentityProvider, Key, START, Visit, come_back, log_in, start};
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION, STAFF, person};

const BUSINESSES: &str = "/v1/operator/businesses";
/// Needs a recent authentication.
const TOKENS: &str = "/v1/operator/tokens";
const RECENT: (&str, &str) = ("WAYBILL_MFA__RECENT_MINUTES", "15");

async fn with_provider(more: &[(&str, &str)]) -> (Portal, IdentityProvider, Key) {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    (Portal::with_provider(&provider, more).await, provider, key)
}

fn token(name: &str) -> Value {
    json!({ "name": name, "role": "viewer" })
}

/// The entries of an action in the operator's log, newest first.
async fn entries(portal: &Portal, action: &str) -> Vec<Value> {
    let answer = portal.operator().get(&format!("/v1/operator/audit-log?action={action}")).await;
    answer.body["data"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone()
}

#[tokio::test]
async fn the_first_log_in_creates_the_person_with_the_role_of_a_group() {
    let (portal, provider, key) = with_provider(&[]).await;
    let mut browser = portal.stranger();
    let started = browser.post(START, json!({ "purpose": "log_in" })).await;
    let cookie = started.header("set-cookie").to_owned();
    for part in ["operator_sso=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=600"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert_eq!(started.header("cache-control"), "no-store");
    let visit = Visit::of(&started);
    assert_eq!(visit.url.path(), "/authorize");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "waybill-console"),
        ("redirect_uri", "http://portal.test/operator/sso"),
        ("scope", "openid email profile"),
        ("code_challenge_method", "S256"),
        ("max_age", "43200"),
    ] {
        assert_eq!(visit.query[name], value, "{name}");
    }

    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let opened = come_back(&mut browser, &visit).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let expected = json!("asha@operator.example");
    assert_eq!((&opened.body["name"], &opened.body["role"]), (&expected, &json!("administrator")));
    assert_eq!(opened.body["singleSignOn"], json!(true));
    assert_eq!(browser.get(BUSINESSES).await.status, 200);

    let redeemed = &provider.asked("/token")[0];
    assert_eq!((&*redeemed["grant_type"], &*redeemed["code"]), ("authorization_code", "a code"));
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&redeemed["code_verifier"]));
    assert_eq!(challenge, visit.query["code_challenge"]);

    let staff = browser.get(STAFF).await;
    let listed = &staff.body["data"][0];
    assert_eq!((&listed["name"], &listed["status"]), (&json!("Asha Rao"), &json!("active")));
    assert_eq!(listed["singleSignOn"], json!(true));
    let created = entries(&portal, "staff.provisioned").await;
    assert_eq!(created[0]["details"], json!({ "issuer": provider.issuer(), "role": "administrator" }));
    let session = entries(&portal, "session.opened").await;
    assert_eq!(session[0]["details"], json!({ "singleSignOn": provider.issuer() }));
}

#[tokio::test]
async fn the_subject_identifies_a_person_and_the_groups_decide_at_each_log_in() {
    let (portal, provider, key) = with_provider(&[]).await;
    let at = (&provider, &key);
    let mut browser = portal.stranger();
    let first = log_in(&portal, at, &mut browser, &json!({ "groups": ["money", "all"] })).await;
    assert_eq!(first.body["role"], "finance", "the first of the list: {first:?}");
    let mut other = portal.stranger();
    let renamed = json!({ "email": "asha.rao@operator.example", "groups": "all" });
    let second = log_in(&portal, at, &mut other, &renamed).await;
    assert_eq!((second.status, &second.body["id"]), (200, &first.body["id"]), "{second:?}");
    assert_eq!(second.body["role"], "viewer", "a single name instead of a list");
    assert_eq!(browser.get(SESSION).await.body["role"], "viewer", "in the older session too");
    let changed = entries(&portal, "staff.role_changed").await;
    let expected = json!({ "from": "finance", "to": "viewer", "singleSignOn": provider.issuer() });
    assert_eq!(changed[0]["details"], expected);

    let same_email = json!({ "sub": "person-2" });
    let stranger = log_in(&portal, at, &mut portal.stranger(), &same_email).await;
    assert_eq!((stranger.status, stranger.code()), (409, "sso_account_exists"), "{stranger:?}");

    provider.user_info(json!({ "sub": "person-1" }));
    for groups in [json!(["everybody"]), json!([]), json!(7), Value::Null] {
        log_in(&portal, at, &mut browser, &json!({})).await;
        let refused = log_in(&portal, at, &mut other, &json!({ "groups": groups })).await;
        assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{groups}: {refused:?}");
        assert_eq!(browser.get(BUSINESSES).await.status, 401, "{groups}: open sessions have ended");
    }
    let failed = entries(&portal, "session.failed").await;
    // All at the same time of the clock, in any order.
    let reasons = |reason: &str| {
        failed.iter().filter(|entry| entry["details"] == json!({ "singleSignOn": reason })).count()
    };
    assert_eq!((reasons("no_role"), reasons("account_exists")), (4, 1));
    let unknown = log_in(&portal, at, &mut other, &json!({ "sub": "person-3", "groups": [] })).await;
    assert_eq!(unknown.code(), "sso_no_role");
}

#[tokio::test]
async fn an_identity_counts_as_a_way_in_and_only_the_provider_demotes_the_last_administrator() {
    let (portal, provider, key) = with_provider(&[]).await;
    let at = (&provider, &key);
    let mut asha = portal.stranger();
    let opened = log_in(&portal, at, &mut asha, &json!({})).await;
    let asha_path = format!("{STAFF}/{}", opened.body["id"].as_str().unwrap());
    let (_, binu) = person(&portal, "binu@operator.example", "administrator").await;
    let demote = json!({ "role": "viewer" });
    let demoted = portal.operator().patch(&format!("{STAFF}/{binu}"), demote.clone()).await;
    assert_eq!(demoted.status, 200, "the other one can log in without a password: {demoted:?}");
    let refused = portal.operator().patch(&asha_path, demote).await;
    assert_eq!((refused.status, refused.code()), (409, "last_administrator"), "{refused:?}");
    let again = log_in(&portal, at, &mut asha, &json!({ "groups": ["all"] })).await;
    assert_eq!((again.status, &again.body["role"]), (200, &json!("viewer")), "{again:?}");

    assert_eq!(portal.operator().delete(&asha_path).await.status, 204);
    assert_eq!(asha.get(BUSINESSES).await.status, 401);
    let back = log_in(&portal, at, &mut asha, &json!({})).await;
    assert_eq!(back.status, 200, "the provider still lets the person in: {back:?}");
    assert_ne!(back.body["id"], opened.body["id"]);
}

#[tokio::test]
async fn an_account_with_a_password_is_linked_by_its_person_only() {
    let (portal, provider, key) = with_provider(&[RECENT]).await;
    let at = (&provider, &key);
    let (mut asha, id) = person(&portal, "asha@operator.example", "viewer").await;
    let refused = log_in(&portal, at, &mut portal.stranger(), &json!({})).await;
    assert_eq!((refused.status, refused.code()), (409, "sso_account_exists"), "{refused:?}");

    let anonymous = portal.stranger().post(START, json!({ "purpose": "link" })).await;
    assert_eq!((anonymous.status, anonymous.code()), (401, "not_logged_in"));
    let mut configured = portal.stranger();
    configured.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(configured.post(START, json!({ "purpose": "link" })).await.code(), "account_required");

    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    assert_eq!(visit.query["max_age"], "0");
    let long_ago = json!({ "auth_time": portal.clock.now().timestamp() - 61 });
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &long_ago)));
    assert_eq!(come_back(&mut asha, &visit).await.code(), "sso_not_recent", "perhaps another person");
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({ "email": "other@id.example" }))));
    let linked = come_back(&mut asha, &visit).await;
    assert_eq!(linked.status, 204, "{linked:?}");
    assert_eq!(entries(&portal, "staff.identity_linked").await[0]["target"]["id"], id);
    let opened = log_in(&portal, at, &mut portal.stranger(), &json!({})).await;
    assert_eq!((opened.status, &opened.body["id"]), (200, &json!(id)), "{opened:?}");
    assert_eq!(opened.body["role"], "administrator", "from now on the provider decides");
    let password = json!({ "email": "asha@operator.example", "password": "battery staple" });
    let refused = portal.stranger().post(SESSION, password).await;
    assert_eq!((refused.status, refused.code()), (403, "password_log_in_off"), "{refused:?}");
    // Written in the background, with other failures of the same time.
    let is_hers = |entry: &Value| entry["target"]["id"] == json!(id);
    let is_recorded = async || entries(&portal, "session.failed").await.iter().any(is_hers);
    until("the refused password is recorded", is_recorded).await;
    let confirmed = asha.post(&format!("{SESSION}/confirm"), json!({ "password": "battery staple" })).await;
    assert_eq!(confirmed.code(), "password_log_in_off", "also in a session from before: {confirmed:?}");
    let body = json!({ "currentPassword": "battery staple", "newPassword": "correct horse" });
    assert_eq!(asha.put("/v1/operator/password", body).await.code(), "password_log_in_off");
    let wrong = json!({ "email": "asha@operator.example", "password": "not the password" });
    assert_eq!(portal.stranger().post(SESSION, wrong).await.status, 401, "reveals nothing");

    let (mut binu, _) = person(&portal, "binu@operator.example", "viewer").await;
    let visit = Visit::of(&binu.post(START, json!({ "purpose": "link" })).await);
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let taken = come_back(&mut binu, &visit).await;
    assert_eq!((taken.status, taken.code()), (409, "sso_already_linked"), "{taken:?}");

    portal.clock.advance(TimeDelta::minutes(16));
    let late = binu.post(START, json!({ "purpose": "link" })).await;
    assert_eq!((late.status, late.code()), (403, "recent_authentication_required"), "{late:?}");
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

    let started_at = portal.clock.now().timestamp();
    for (what, claims, status, code) in [
        ("a session at the provider", json!({ "auth_time": started_at - 61 }), 403, "sso_not_recent"),
        ("no statement", json!({ "auth_time": null }), 403, "sso_not_recent"),
        ("another person", json!({ "sub": "person-2" }), 403, "sso_other_person"),
        ("the same person", json!({}), 204, ""),
    ] {
        let visit = Visit::of(&asha.post(START, json!({ "purpose": "confirm" })).await);
        assert_eq!(visit.query["max_age"], "0");
        provider.issue(&key.sign(&provider.claims(&portal, &visit, &claims)));
        let confirmed = come_back(&mut asha, &visit).await;
        assert_eq!((confirmed.status, confirmed.code()), (status, code), "{what}: {confirmed:?}");
        let is_recent = asha.post(TOKENS, token(what)).await.status == 201;
        assert_eq!(is_recent, status == 204, "{what}");
    }
    assert_eq!(entries(&portal, "session.confirmed").await.len(), 1);

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

#[tokio::test]
async fn the_second_factor_of_the_provider_counts() {
    let required = ("WAYBILL_MFA__REQUIRED_FOR_STAFF", "administrator");
    let (portal, provider, key) = with_provider(&[MFA_KEY, required]).await;
    let mut browser = portal.stranger();
    let opened = log_in(&portal, (&provider, &key), &mut browser, &json!({})).await;
    assert_eq!(opened.body["mfaEnrolmentRequired"], Value::Null, "{opened:?}");
    assert_eq!(browser.get(BUSINESSES).await.status, 200);
    let (mut other, _) = person(&portal, "binu@operator.example", "administrator").await;
    assert_eq!(other.get(BUSINESSES).await.code(), "mfa_enrolment_required");
}

#[tokio::test]
async fn claims_may_come_from_the_user_info_of_the_same_subject() {
    let (portal, provider, key) = with_provider(&[]).await;
    let at = (&provider, &key);
    let short = json!({ "email": null, "email_verified": null, "name": null, "groups": null });
    provider.user_info(json!({ "sub": "person-2", "email": "eve@operator.example", "groups": ["ops"] }));
    let swapped = log_in(&portal, at, &mut portal.stranger(), &short).await;
    assert_eq!((swapped.status, swapped.code()), (422, "sso_response_invalid"), "{swapped:?}");
    provider.user_info(json!({ "sub": "person-1", "email": "asha@operator.example", "groups": ["ops"] }));
    let opened = log_in(&portal, at, &mut portal.stranger(), &short).await;
    assert_eq!((opened.status, &opened.body["name"]), (200, &json!("asha@operator.example")), "{opened:?}");

    provider.user_info(json!({ "sub": "person-3", "email": "x@y.example", "email_verified": false }));
    for claims in [
        json!({ "sub": "person-3", "email": null }),
        json!({ "sub": "person-3", "email": "x@y.example", "email_verified": false }),
        json!({ "sub": "person-3", "email": "not an address" }),
    ] {
        let refused = log_in(&portal, at, &mut portal.stranger(), &claims).await;
        assert_eq!((refused.status, refused.code()), (403, "sso_no_email"), "{claims}: {refused:?}");
    }
}

#[tokio::test]
async fn a_log_out_ends_the_session_and_leads_to_the_providers() {
    let (portal, provider, key) = with_provider(&[]).await;
    let at = (&provider, &key);
    let mut browser = portal.stranger();
    log_in(&portal, at, &mut browser, &json!({})).await;
    assert_eq!(browser.delete(SESSION).await.status, 204, "the provider has no page for it");

    provider.with_metadata("end_session_endpoint", json!(format!("{}/end", provider.issuer())));
    portal.clock.advance(TimeDelta::hours(2));
    log_in(&portal, at, &mut browser, &json!({})).await;
    let mut copy = browser.clone();
    let closed = browser.delete(SESSION).await;
    let expected = format!(
        "{}/end?client_id=waybill-console&post_logout_redirect_uri=http%3A%2F%2Fportal.test%2Foperator",
        provider.issuer()
    );
    assert_eq!((closed.status, &closed.body["logOutUrl"]), (200, &json!(expected)), "{closed:?}");
    assert_eq!(copy.get(BUSINESSES).await.status, 401);

    let (mut other, _) = person(&portal, "binu@operator.example", "viewer").await;
    assert_eq!(other.delete(SESSION).await.status, 204, "sessions of passwords end only here");
}

#[tokio::test]
async fn passwords_of_the_staff_can_be_turned_off_but_not_the_configured_token() {
    let (with_passwords, provider, key) = with_provider(&[]).await;
    person(&with_passwords, "binu@operator.example", "viewer").await;
    let mut settings = with_passwords.settings.clone();
    settings.sso.password_log_in = false;
    let portal = with_passwords.with_settings(settings).await;
    let password = json!({ "email": "binu@operator.example", "password": "battery staple" });
    let refused = portal.stranger().post(SESSION, password).await;
    assert_eq!((refused.status, refused.code()), (403, "password_log_in_off"), "{refused:?}");
    assert_eq!(portal.stranger().post(SESSION, json!({ "token": OPERATOR_TOKEN })).await.status, 200);
    assert_eq!(log_in(&portal, (&provider, &key), &mut portal.stranger(), &json!({})).await.status, 200);
    let config = portal.stranger().get("/v1/portal/config").await;
    let expected = json!({ "label": "Log in with single sign-on", "passwords": false });
    assert_eq!(config.body["singleSignOn"], expected);
}

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

#[tokio::test]
async fn without_a_provider_or_with_a_bad_body_nothing_starts() {
    let portal = Portal::start().await;
    let mut browser = portal.stranger();
    assert_eq!(portal.stranger().get("/v1/portal/config").await.body["singleSignOn"], Value::Null);
    let refused = browser.post(START, json!({ "purpose": "log_in" })).await;
    assert_eq!((refused.status, refused.code()), (404, "sso_off"), "{refused:?}");
    for body in [json!({}), json!({ "purpose": "become administrator" }), json!({ "purpose": 7 })] {
        assert_eq!(browser.post(START, body).await.invalid_fields(), ["purpose"]);
    }
    for (body, fields) in [
        (json!({}), vec!["code", "state"]),
        (json!({ "state": "x", "code": "y", "error": "z" }), vec!["error"]),
        (
            json!({ "state": "x".repeat(201), "code": "y".repeat(8_193), "iss": 7 }),
            vec!["code", "iss", "state"],
        ),
    ] {
        assert_eq!(browser.post(COMPLETE, body).await.invalid_fields(), fields);
    }
    let ended = browser.post(COMPLETE, json!({ "state": "x", "code": "y" })).await;
    assert_eq!((ended.status, ended.code()), (422, "sso_ended"));
}

#[tokio::test]
async fn starts_are_limited_per_address() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    let portal = Portal::with_provider(&provider, &[("WAYBILL_LIMITS__PER_ADDRESS", "true")]).await;
    let mut browser = portal.stranger();
    for _ in 0..100 {
        start(&mut browser).await;
    }
    let refused = browser.post(START, json!({ "purpose": "log_in" })).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_log_ins"), "{refused:?}");
    portal.clock.advance(TimeDelta::minutes(15));
    start(&mut browser).await;
}
