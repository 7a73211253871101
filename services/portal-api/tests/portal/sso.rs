//! Single sign-on of the staff: accounts, roles and log-outs. Links are in `sso_links`, confirmations in `sso_confirmations`,
//! attacks in `sso_attacks`, and a real provider in `sso_provider`.

use chrono::TimeDelta;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::authenticator::MFA_KEY;
use crate::identity_provider::{COMPLETE, IdentityProvider, Key, START, Visit, come_back, log_in, start};
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::{SESSION, STAFF, person};

const BUSINESSES: &str = "/v1/operator/businesses";

pub(crate) async fn with_provider(more: &[(&str, &str)]) -> (Portal, IdentityProvider, Key) {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    (Portal::with_provider(&provider, more).await, provider, key)
}

/// The entries of an action in the operator's log, newest first.
pub(crate) async fn entries(portal: &Portal, action: &str) -> Vec<Value> {
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
    // The token denies the address, whatever the user info says.
    provider
        .user_info(json!({ "sub": "person-3", "email": "asha@operator.example", "email_verified": true, "groups": ["ops"] }));
    let denied = json!({ "sub": "person-3", "email": null, "email_verified": false, "groups": null });
    let refused = log_in(&portal, at, &mut portal.stranger(), &denied).await;
    assert_eq!((refused.status, refused.code()), (403, "sso_no_email"), "{refused:?}");
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
    let portal = with_passwords.with_settings(settings);
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
