//! Sessions of the operator's console.

use chrono::TimeDelta;
use serde_json::json;

use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::staff::person;

const SESSION: &str = "/v1/operator/session";
/// The operator's next one.
const NEXT_TOKEN: &str = "another token of the operator's";
const BUSINESSES: &str = "/v1/operator/businesses";

/// All tabs of a browser share the cookie. A page names the person whose console it shows.
#[tokio::test]
async fn a_page_of_the_former_person_does_nothing_as_the_present_one() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let (_, asha) = person(&portal, "asha@carrier.example", "administrator").await;
    let (browser, ravi) = person(&portal, "ravi@carrier.example", "administrator").await;
    let mut former = browser.clone().with_header("expected-user", &asha);
    let business = format!("{BUSINESSES}/{}", owner.business);
    for (method, path) in [
        ("GET", BUSINESSES),
        ("PATCH", &business),
        ("POST", &format!("{business}/wallet/credits")),
        ("GET", "/v1/operator/sessions"),
        ("POST", "/v1/operator/second-factor"),
    ] {
        let refused = former.call(method, path).await;
        assert_eq!((refused.status, refused.code()), (409, "session_changed"), "{method} {path}");
    }
    assert_eq!(former.get(SESSION).await.body["id"], ravi, "it learns whose session it is");
    assert_eq!(browser.with_header("expected-user", &ravi).get(BUSINESSES).await.status, 200);

    let mut console = portal.stranger();
    assert_eq!(console.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await.status, 200);
    for (expected, status) in [("configuration", 200), (asha.as_str(), 409)] {
        assert_eq!(
            console.clone().with_header("expected-user", expected).get(BUSINESSES).await.status,
            status
        );
    }
}

#[tokio::test]
async fn the_token_opens_a_session_that_takes_its_place() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut console = portal.stranger();
    assert_eq!(console.get(SESSION).await.status, 401);
    let opened = console.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    assert_eq!(opened.body["expiresAt"], "2027-01-15T20:00:00.001Z", "twelve hours");
    let cookie = opened.header("set-cookie").to_owned();
    for part in ["operator_session=", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains(OPERATOR_TOKEN));
    assert_eq!(opened.header("cache-control"), "no-store");
    assert_eq!(console.get(SESSION).await.body, opened.body);
    assert_eq!(console.get(BUSINESSES).await.body["data"][0]["id"], owner.business);
    let path = format!("{BUSINESSES}/{}", owner.business);
    assert_eq!(console.patch(&path, json!({ "status": "active" })).await.status, 200);
    assert_eq!(console.get("/v1/portal/status").await.status, 401, "the operator is nobody's user");
    assert_eq!(owner.client.clone().get(SESSION).await.status, 401, "a user is no operator");
}

#[tokio::test]
async fn a_session_ends_when_it_is_closed_replaced_or_old() {
    let portal = Portal::start().await;
    let open = json!({ "token": OPERATOR_TOKEN });
    let mut console = portal.stranger();
    console.post(SESSION, open.clone()).await;
    let mut copy = console.clone();
    assert_eq!(console.delete(SESSION).await.status, 204);
    assert_eq!(copy.get(BUSINESSES).await.code(), "operator_token_invalid", "its cookie is worth nothing");
    assert_eq!(console.delete(SESSION).await.status, 204, "once more");

    console.post(SESSION, open.clone()).await;
    let mut before = console.clone();
    console.post(SESSION, open).await;
    assert_eq!(before.get(SESSION).await.status, 401, "the next one took its place");
    for _ in 0..12 {
        portal.clock.advance(TimeDelta::hours(1) - TimeDelta::seconds(1));
        assert_eq!(console.get(SESSION).await.status, 200, "in use");
    }
    portal.clock.advance(TimeDelta::seconds(11));
    assert_eq!(console.get(BUSINESSES).await.status, 200);
    portal.clock.advance(TimeDelta::seconds(1));
    assert_eq!(console.get(BUSINESSES).await.status, 401);
    assert_eq!(console.get(SESSION).await.status, 401);
}

#[tokio::test]
async fn a_wrong_token_opens_nothing_and_is_limited_per_address() {
    let portal = Portal::with(&[("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", "3")]).await;
    let mut stranger = portal.stranger();
    for body in [json!({}), json!({ "token": 7 }), json!([])] {
        assert_eq!(stranger.post(SESSION, body).await.status, 400);
    }
    for token in ["x", &OPERATOR_TOKEN[1..], &format!("{OPERATOR_TOKEN}x")] {
        let refused = stranger.post(SESSION, json!({ "token": token })).await;
        assert_eq!((refused.status, refused.code()), (401, "operator_token_invalid"));
        assert!(refused.header("set-cookie").is_empty());
    }
    let refused = stranger.post(SESSION, json!({ "token": "x" })).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_failures"));
    let opened = stranger.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(opened.status, 200, "the good one is still served");
}

#[tokio::test]
async fn pages_of_another_origin_open_no_session() {
    let portal = Portal::start().await;
    let mut foreign = portal.stranger().with_header("origin", "https://evil.example");
    let refused = foreign.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!((refused.status, refused.code()), (403, "foreign_origin"));
}

#[tokio::test]
async fn a_session_holds_at_every_instance_and_ends_with_the_token() {
    let portal = Portal::start().await;
    let another = portal.another();
    let mut console = portal.stranger();
    console.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(console.clone().at(another.public).get(BUSINESSES).await.status, 200);
    let changed = portal.with_operator_token(NEXT_TOKEN, None);
    assert_eq!(console.at(changed.public).get(BUSINESSES).await.status, 401);
}

#[tokio::test]
async fn the_token_changes_without_a_refused_call() {
    let portal = Portal::start().await;
    let both = portal.with_operator_token(NEXT_TOKEN, Some(OPERATOR_TOKEN));
    let changed = portal.with_operator_token(NEXT_TOKEN, None);
    let mut sessions = Vec::new();
    for (token, at_former, at_changed) in [(OPERATOR_TOKEN, 200, 401), (NEXT_TOKEN, 401, 200)] {
        let mut console = both.stranger();
        assert_eq!(console.post(SESSION, json!({ "token": token })).await.status, 200);
        for caller in [console.clone(), both.stranger().with_bearer(token)] {
            for (instance, status) in [(&portal, at_former), (&both, 200), (&changed, at_changed)] {
                let call = caller.clone().at(instance.public).get(BUSINESSES).await;
                assert_eq!(call.status, status, "{token}: {call:?}");
            }
        }
        sessions.push(console);
    }
    for mut console in sessions {
        let copy = console.clone();
        assert_eq!(console.delete(SESSION).await.status, 204);
        assert_eq!(copy.at(both.public).get(SESSION).await.status, 401, "it was closed");
    }
}
