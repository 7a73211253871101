//! How long sessions last, and which origins may use them.

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::Method;
use serde_json::json;

use crate::client::Answer;
use crate::portal::{Portal, sign_up_body};

const SESSION: &str = "/v1/portal/session";

#[tokio::test]
async fn all_portal_calls_need_a_session() {
    let portal = Portal::start().await;
    let id = "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let mut strangers = [
        portal.stranger(),
        portal.stranger().with_header("cookie", "portal_session=nonsense"),
        portal.stranger().with_header("cookie", &format!("portal_session={}", "A".repeat(43))),
        portal.operator(),
    ];
    for stranger in &mut strangers {
        for path in [
            "/session".to_owned(),
            "/status".to_owned(),
            "/pickup-profile".to_owned(),
            "/subscription".to_owned(),
            "/api-keys".to_owned(),
            "/orders".to_owned(),
            "/orders/stream".to_owned(),
            format!("/orders/{id}"),
            "/wallet".to_owned(),
            "/wallet/entries".to_owned(),
            "/webhook-endpoints".to_owned(),
            format!("/webhook-endpoints/{id}/deliveries"),
            "/nothing-here".to_owned(),
        ] {
            let refused = stranger.get(&format!("/v1/portal{path}")).await;
            assert_eq!((refused.status, refused.code()), (401, "not_logged_in"), "{path}");
        }
        let refused = stranger.post("/v1/portal/wallet/top-ups", json!({ "amountPaise": 1 })).await;
        assert_eq!(refused.status, 401);
    }
    assert!(portal.peers.asked("GET /wallet/internal/wallets/").is_empty());
}

#[tokio::test]
async fn a_session_ends_when_it_is_not_used_and_after_thirty_days_anyway() {
    let portal = Portal::start().await;
    let mut idle = portal.owner("idle@shop.example").await.client;
    let mut busy = portal.owner("busy@shop.example").await.client;
    portal.clock.advance(TimeDelta::hours(11));
    assert_eq!(busy.get(SESSION).await.status, 200);
    portal.clock.advance(TimeDelta::hours(1));
    assert_eq!(idle.get(SESSION).await.status, 401);
    for _ in 0..(30 * 24 - 12) / 10 {
        portal.clock.advance(TimeDelta::hours(10));
        assert_eq!(busy.get(SESSION).await.status, 200, "{}", portal.clock.now());
    }
    portal.clock.advance(TimeDelta::hours(10));
    assert_eq!(busy.get(SESSION).await.status, 401);
}

#[tokio::test]
async fn the_cookie_lasts_as_long_as_the_session() {
    let portal = Portal::start().await;
    let mut owner = portal.stranger();
    let opened = owner.post("/v1/portal/accounts", sign_up_body("owner@shop.example")).await;
    let cookie = opened.header("set-cookie").to_owned();
    let token = cookie.split(';').next().unwrap().to_owned();
    assert!(cookie.contains("Max-Age=43200"), "{cookie}");
    let seconds_left = |answer: &Answer| {
        let until: DateTime<Utc> = answer.body["expiresAt"].as_str().unwrap().parse().unwrap();
        (until - portal.clock.now()).num_seconds()
    };
    assert_eq!(seconds_left(&opened), 43_200);
    assert_eq!(owner.get(SESSION).await.header("set-cookie"), "", "its end has not moved");

    // Whichever call moves the end renews the cookie.
    portal.clock.advance(TimeDelta::hours(1));
    let seen = owner.get(SESSION).await;
    assert_eq!(seconds_left(&seen), 43_200);
    let renewed = seen.header("set-cookie");
    assert!(renewed.starts_with(&token) && renewed.contains("Max-Age=43200"), "{renewed}");
    portal.clock.advance(TimeDelta::hours(1));
    let seen = owner.get("/v1/portal/pickup-profile").await;
    let renewed = seen.header("set-cookie");
    assert!(renewed.starts_with(&token) && renewed.contains("Max-Age=43200"), "{renewed}");

    // A session that is ended stays so in the browser, though this call has used it.
    let id = owner.get("/v1/portal/sessions").await.body["data"][0]["id"].as_str().unwrap().to_owned();
    portal.clock.advance(TimeDelta::hours(1));
    let ended = owner.delete(&format!("/v1/portal/sessions/{id}")).await;
    let all: Vec<_> = ended.headers.get_all("set-cookie").iter().collect();
    assert!(all.len() == 1 && ended.header("set-cookie").contains("Max-Age=0"), "{ended:?}");
}

#[tokio::test]
async fn logging_out_ends_the_session_wherever_its_cookie_is() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let mut copy = owner.clone();
    let out = owner.delete(SESSION).await;
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").contains("Max-Age=0"), "{out:?}");
    assert_eq!(copy.get(SESSION).await.status, 401);
    assert_eq!(copy.delete(SESSION).await.status, 204, "it is so already");
}

#[tokio::test]
async fn a_log_in_replaces_the_session_that_the_browser_held() {
    let portal = Portal::start().await;
    let mut browser = portal.owner("owner@shop.example").await.client;
    let mut elsewhere = portal.stranger();
    let log_in = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(elsewhere.post(SESSION, log_in.clone()).await.status, 200);
    let mut before = browser.clone();
    assert_eq!(browser.post(SESSION, log_in).await.status, 200);
    assert_eq!(browser.get(SESSION).await.status, 200);
    assert_eq!(before.get(SESSION).await.status, 401, "the old secret opens nothing any more");
    assert_eq!(elsewhere.get(SESSION).await.status, 200, "other browsers stay logged in");
}

#[tokio::test]
async fn foreign_pages_may_not_write() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = "/v1/portal/subscription";
    let own = [
        "http://portal.test".to_owned(),
        // As seen from the browser of a developer who calls the listener directly.
        format!("http://{}", portal.public),
    ];
    for origin in own {
        let mut page = owner.client.clone().with_header("origin", &origin);
        assert_eq!(page.put(path, json!({ "plan": "starter" })).await.status, 200, "{origin}");
    }
    for origin in ["http://evil.test", "null", "https://portal.test", "http://portal.test:81", "x"] {
        let mut page = owner.client.clone().with_header("origin", origin);
        let refused = page.put(path, json!({ "plan": "starter" })).await;
        assert_eq!((refused.status, refused.code()), (403, "foreign_origin"), "{origin}");
        assert_eq!(page.delete(SESSION).await.status, 403, "{origin}");
        assert_eq!(page.post("/v1/portal/accounts", sign_up_body("x@shop.example")).await.status, 403);
        let mut operator = portal.operator().with_header("origin", origin);
        let change = json!({ "status": "active" });
        let path = format!("/v1/operator/businesses/{}", owner.business);
        assert_eq!(operator.patch(&path, change).await.status, 403);
    }
    let mut page = owner.client.clone().with_header("sec-fetch-site", "cross-site");
    let refused = page.put(path, json!({ "plan": "starter" })).await;
    assert_eq!((refused.status, refused.code()), (403, "foreign_origin"), "without an Origin, too");
    assert_eq!(page.delete(SESSION).await.code(), "foreign_origin");
    assert_eq!(page.get(SESSION).await.status, 200, "a link may lead here");
    for site in ["same-origin", "none"] {
        let mut page = owner.client.clone().with_header("sec-fetch-site", site);
        assert_eq!(page.put(path, json!({ "plan": "starter" })).await.status, 200, "{site}");
    }
    let mut page = owner.client.clone();
    assert_eq!(page.get(SESSION).await.status, 200, "no foreign page has logged anybody out");
}

#[tokio::test]
async fn forms_of_foreign_pages_are_rejected() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let path = "/v1/portal/api-keys/key_01ARZ3NDEKTSV4RRFFQ69G5FAV/revoke";
    for form in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let refused = owner.raw(Method::POST, path, form, "").await;
        assert_eq!((refused.status, refused.code()), (415, "unsupported_media_type"), "{form}");
    }
}
