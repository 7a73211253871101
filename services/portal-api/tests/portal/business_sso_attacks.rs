//! Attacks on single sign-on of businesses: by strangers, by providers, and by owners of other businesses.

use std::time::Duration;

use serde_json::json;

use crate::authenticator::SESSION;
use crate::business_sso::{
    COMPLETE, ENABLED, SETTINGS, START, Scene, changed, come_back, set_up, settings, start,
};
use crate::identity_provider::{self as staff, CLIENT_ID, IdentityProvider, Key, Visit};
use crate::portal::Portal;
use crate::sso_attacks::{has_ended, is_rejected};

/// Two businesses with the same provider and the same client: nothing but the business differs.
#[tokio::test]
async fn a_response_for_one_business_opens_nothing_in_another() {
    let scene = Scene::new().await;
    let mut other = scene.portal.owner("owner@other.example").await;
    scene.portal.approve(&other.business).await;
    set_up(&mut other, &settings(&scene.provider)).await;
    let redeemed = || scene.provider.asked("/token").len();

    let mut browser = scene.portal.stranger();
    let here = start(&mut browser, &scene.owner.business).await;
    scene.provider.issue(&scene.token(&here, &json!({})));
    has_ended(&come_back(&mut browser, &other.business, &here).await, "the page of the other business");
    assert_eq!(redeemed(), 0, "the code was not sent");
    // The state of a visit that the same browser started there.
    let there = start(&mut browser, &other.business).await;
    has_ended(&come_back(&mut browser, &other.business, &here).await, "the state of the other visit");
    has_ended(&come_back(&mut browser, &scene.owner.business, &there).await, "the other way round");
    assert_eq!(redeemed(), 0);
    let opened = come_back(&mut browser, &other.business, &there).await;
    is_rejected(&opened, "the token has the nonce of the first visit");

    // The same subject is two users, with the roles of their businesses.
    let opened = scene.log_in(&mut scene.portal.stranger(), &json!({})).await;
    set_up(
        &mut other,
        &changed(
            &settings(&scene.provider),
            &json!({ "groupRoles": [], "defaultRole": "viewer", "allowedDomains": ["shop.example"] }),
        ),
    )
    .await;
    let mut browser = scene.portal.stranger();
    let visit = start(&mut browser, &other.business).await;
    scene.provider.issue(&scene.token(&visit, &json!({})));
    let there = come_back(&mut browser, &other.business, &visit).await;
    assert_eq!((there.status, &there.body["role"]), (200, &json!("viewer")), "{there:?}");
    assert_ne!(there.body["userId"], opened.body["userId"]);
}

/// The console and a business with the same provider and the same client.
#[tokio::test]
async fn a_response_for_a_business_opens_no_console_and_the_other_way_round() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    let portal = Portal::with_provider(&provider, &ENABLED).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.approve(&owner.business).await;
    set_up(&mut owner, &changed(&settings(&provider), &json!({ "clientId": CLIENT_ID }))).await;
    // The attacker swaps the cookies in the own browser.
    let swapped = |browser: &crate::client::Client, from: &str, to: &str| {
        let cookie = browser.cookie(from).unwrap().replacen(from, to, 1);
        portal.stranger().with_header("cookie", &cookie)
    };
    let mut browser = portal.stranger();
    let visit = start(&mut browser, &owner.business).await;
    provider.issue(&key.sign(&provider.claims(&portal, &visit, &json!({}))));
    let mut console = swapped(&browser, "portal_sso", "operator_sso");
    has_ended(&staff::come_back(&mut console, &visit).await, "of a business, at the console");
    let mut browser = portal.stranger();
    let visit = staff::start(&mut browser).await;
    let mut shop = swapped(&browser, "operator_sso", "portal_sso");
    has_ended(&come_back(&mut shop, &owner.business, &visit).await, "of the console, at a business");
    assert!(provider.asked("/token").is_empty(), "no code was sent");
}

#[tokio::test]
async fn a_visit_confirms_only_the_session_that_it_was_started_for() {
    let scene = Scene::new().await;
    let mut browser = scene.portal.stranger();
    scene.log_in(&mut browser, &json!({})).await;
    let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
    let mut later = scene.portal.stranger();
    scene.log_in(&mut later, &json!({})).await;
    let cookies = [browser.cookie("portal_sso").unwrap(), later.cookie("portal_session").unwrap()].join("; ");
    let mut mixed = scene.portal.stranger().with_header("cookie", &cookies);
    has_ended(&scene.come_back(&mut mixed, &visit, &json!({})).await, "another session");
    let visit = Visit::of(&browser.post(START, json!({ "purpose": "confirm" })).await);
    let cookies =
        [browser.cookie("portal_sso").unwrap(), scene.owner.client.cookie("portal_session").unwrap()];
    let mut mixed = scene.portal.stranger().with_header("cookie", &cookies.join("; "));
    has_ended(&scene.come_back(&mut mixed, &visit, &json!({})).await, "the session of a password");
    let anonymous = scene.portal.stranger().post(START, json!({ "purpose": "confirm" })).await;
    assert_eq!((anonymous.status, anonymous.code()), (401, "not_logged_in"));
}

/// Of another issuer, the stored secret must not be sent to its token endpoint.
#[tokio::test]
async fn a_stored_secret_is_never_sent_to_another_issuer() {
    let mut scene = Scene::new().await;
    let mut body = settings(&scene.provider);
    body.as_object_mut().unwrap().remove("clientSecret");
    assert_eq!(scene.owner.client.put(SETTINGS, body.clone()).await.status, 200, "kept for the same issuer");
    assert_eq!(scene.log_in(&mut scene.portal.stranger(), &json!({})).await.status, 200);
    let evil = IdentityProvider::start(&scene.key);
    body["issuer"] = json!(evil.issuer());
    let refused = scene.owner.client.put(SETTINGS, body).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["clientSecret"]), "{refused:?}");
}

#[tokio::test]
async fn private_addresses_are_not_called() {
    let scene = Scene::new().await;
    let portal = Portal::with(&ENABLED[..4]).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.approve(&owner.business).await;
    for issuer in [
        "http://127.0.0.1:1",
        "http://127.1:1",
        "http://2130706433",
        "http://0x7f000001",
        "http://[::1]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:7f00:1]",
        "http://localhost",
        "http://a.localhost",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://192.168.0.1",
        "http://169.254.169.254",
        "http://100.64.0.1",
        "http://[fe80::1]",
        "http://[fd00::1]",
        "http://[64:ff9b::7f00:1]",
        "http://0.0.0.0",
    ] {
        let body = changed(&settings(&scene.provider), &json!({ "issuer": issuer }));
        let refused = owner.client.put(SETTINGS, body).await;
        assert_eq!(
            (refused.status, refused.invalid_fields()),
            (400, vec!["issuer"]),
            "{issuer}: {refused:?}"
        );
    }
    // A provider at an allowed address names others.
    let inside = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let at = inside.local_addr().unwrap();
    for name in ["jwks_uri", "token_endpoint", "userinfo_endpoint"] {
        let provider = IdentityProvider::start(&scene.key);
        provider.with_metadata(name, json!(format!("http://{at}/secret")));
        let mut owner = scene.portal.owner(&format!("{name}@shop.example")).await;
        scene.portal.approve(&owner.business).await;
        set_up(&mut owner, &settings(&provider)).await;
        let mut browser = scene.portal.stranger();
        let body = json!({ "purpose": "log_in", "businessId": owner.business });
        let mut answer = browser.post(START, body).await;
        if answer.status == 201 {
            let visit = Visit::of(&answer);
            let claims = json!({ "aud": "waybill-shop", "groups": null });
            provider.issue(&scene.key.sign(&provider.claims(&scene.portal, &visit, &claims)));
            answer = come_back(&mut browser, &owner.business, &visit).await;
        }
        assert_eq!((answer.status, answer.code()), (503, "sso_unavailable"), "{name}: {answer:?}");
        let called = inside.accept().map(drop).map_err(|error| error.kind());
        assert_eq!(called, Err(std::io::ErrorKind::WouldBlock), "{name}: nothing has called it");
    }
}

/// It accepts connections and never answers.
fn silent() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    (listener, issuer)
}

#[tokio::test]
async fn a_provider_that_hangs_delays_no_other_business() {
    let scene = Scene::new().await;
    let (_listener, issuer) = silent();
    let mut slow = scene.portal.owner("owner@slow.example").await;
    scene.portal.approve(&slow.business).await;
    set_up(&mut slow, &changed(&settings(&scene.provider), &json!({ "issuer": issuer }))).await;
    let hang = |browser: crate::client::Client| {
        let body = json!({ "purpose": "log_in", "businessId": slow.business });
        async move { browser.clone().post(START, body).await }
    };
    let waiting = futures_util::future::join_all((0..20).map(|_| hang(scene.portal.stranger())));
    let others = async {
        let start = std::time::Instant::now();
        let opened = scene.log_in(&mut scene.portal.stranger(), &json!({})).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    };
    let (waiting, ()) = tokio::join!(waiting, others);
    for refused in waiting {
        assert_eq!((refused.status, refused.code()), (503, "sso_unavailable"), "{refused:?}");
    }
}

#[tokio::test]
async fn strangers_learn_nothing_about_businesses() {
    let scene = Scene::new().await;
    let without = scene.portal.owner("owner@other.example").await;
    let unknown = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for business in [&without.business, unknown, "nonsense"] {
        let body = json!({ "purpose": "log_in", "businessId": business });
        let refused = scene.portal.stranger().post(START, body).await;
        assert_eq!((refused.status, refused.code()), (404, "sso_off"), "{business}: {refused:?}");
    }
    let mut browser = scene.portal.stranger();
    for (body, fields) in [
        (json!({}), vec!["purpose"]),
        (json!({ "purpose": "log_in" }), vec!["businessId"]),
        (json!({ "purpose": "link", "businessId": unknown }), vec!["purpose"]),
    ] {
        assert_eq!(browser.post(START, body).await.invalid_fields(), fields);
    }
    assert_eq!(browser.post(COMPLETE, json!({})).await.invalid_fields(), ["businessId", "code", "state"]);
    assert_eq!(browser.get(SESSION).await.status, 401);
}
