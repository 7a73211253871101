//! The console at a listener of its own: what each listener serves, which cookies and origins it accepts, and links.

use std::net::SocketAddr;

use reqwest::Response;
use serde_json::json;

use crate::client::{Answer, Client};
use crate::pages::{INDEX, built, get_as_written};
use crate::portal::{OPERATOR_TOKEN, Portal};
use crate::{operator_roles, roles};

const SESSION: &str = "/v1/operator/session";
const LISTENER: (&str, &str) = ("WAYBILL_HTTP__OPERATOR", "127.0.0.1:0");
const URL: (&str, &str) = ("WAYBILL_PUBLIC__CONSOLE_URL", "http://console.test");
const ON_PUBLIC: (&str, &str) = ("WAYBILL_OPERATOR__ON_PUBLIC_LISTENER", "true");
const UNLIMITED: (&str, &str) = ("WAYBILL_LIMITS__PER_ADDRESS", "false");

/// Settings, and whether the public listener serves the console with them.
const SETTINGS: &[(&[(&str, &str)], bool)] = &[
    (&[UNLIMITED], true),
    (&[UNLIMITED, URL], true),
    (&[UNLIMITED, ON_PUBLIC], true),
    (&[UNLIMITED, LISTENER, URL], false),
    (&[UNLIMITED, LISTENER, URL, ON_PUBLIC], true),
];

/// Calls without a session, which no table of roles lists.
const OPEN_TO_STAFF: &[&str] = &[
    "POST /v1/operator/session",
    "GET /v1/operator/session",
    "DELETE /v1/operator/session",
    "POST /v1/operator/session/second-factor",
    "POST /v1/operator/password-links/look-up",
    "POST /v1/operator/password-links/use",
    "POST /v1/operator/sso/log-ins",
    "POST /v1/operator/sso/log-ins/complete",
];
const OPEN_TO_BUSINESSES: &[&str] = &[
    "POST /v1/portal/accounts",
    "POST /v1/portal/session",
    "GET /v1/portal/session",
    "DELETE /v1/portal/session",
    "POST /v1/portal/session/second-factor",
    "POST /v1/portal/password-resets",
    "POST /v1/portal/password-resets/look-up",
    "POST /v1/portal/password-resets/confirm",
    "POST /v1/portal/invitations/look-up",
    "POST /v1/portal/invitations/accept",
    "POST /v1/portal/sso/log-ins",
    "POST /v1/portal/sso/log-ins/complete",
];

async fn private(more: &[(&str, &str)]) -> (Portal, SocketAddr) {
    let portal = Portal::with(&[&[UNLIMITED, LISTENER, URL][..], more].concat()).await;
    let console = portal.console.unwrap();
    (portal, console)
}

fn calls_of_staff(business: &str) -> Vec<String> {
    let calls = operator_roles::CALLS.iter().map(|(call, ..)| {
        let (method, path) = call.split_once(' ').unwrap();
        format!("{method} /v1/operator{}", path.replace("{business}", business))
    });
    calls.chain(OPEN_TO_STAFF.iter().map(|call| (*call).to_owned())).collect()
}

fn calls_of_businesses() -> Vec<String> {
    let calls = roles::CALLS.iter().map(|(call, _)| {
        let (method, path) = call.split_once(' ').unwrap();
        format!("{method} {}", roles::filled(path))
    });
    calls.chain(OPEN_TO_BUSINESSES.iter().map(|call| (*call).to_owned())).collect()
}

async fn call(client: &mut Client, call: &str) -> Answer {
    let (method, path) = call.split_once(' ').unwrap();
    client.call(method, path).await
}

/// Whether the listener has each of these calls.
async fn check(listener: SocketAddr, calls: &[String], is_served: bool, settings: &[(&str, &str)]) {
    let mut client = Client::new(listener).with_bearer(OPERATOR_TOKEN);
    for each in calls {
        let answer = call(&mut client, each).await;
        let is_missing = answer.status == 404 && answer.code() == "not_found";
        assert_eq!(is_missing, !is_served, "{settings:?}: {each}: {answer:?}");
        assert_ne!(answer.status, 405, "{each} is no call");
    }
}

#[tokio::test]
async fn each_listener_serves_its_own_calls_only() {
    for (settings, on_public) in SETTINGS {
        let portal = Portal::with(settings).await;
        let business = portal.owner("owner@shop.example").await.business;
        let (of_staff, of_businesses) = (calls_of_staff(&business), calls_of_businesses());
        check(portal.public, &of_staff, *on_public, settings).await;
        check(portal.public, &of_businesses, true, settings).await;
        let parts = if *on_public { json!(["portal", "console"]) } else { json!(["portal"]) };
        assert_eq!(portal.stranger().get("/v1/portal/config").await.body["parts"], parts, "{settings:?}");
        assert_eq!(portal.console.is_some(), settings.contains(&LISTENER));
        let Some(console) = portal.console else { continue };
        check(console, &of_staff, true, settings).await;
        check(console, &of_businesses, false, settings).await;
        let mut stranger = Client::new(console);
        assert_eq!(stranger.get("/v1/portal/config").await.body["parts"], json!(["console"]));
        assert_eq!(stranger.post("/v1/payments/razorpay/webhook", json!({})).await.status, 404);
    }
}

#[tokio::test]
async fn encoded_paths_reach_no_other_part() {
    let (portal, console) = private(&[]).await;
    let mut operator = portal.operator();
    for path in [
        "/v1/oper%61tor/staff",
        "/v1/operator/st%61ff",
        "/v1//operator/staff",
        "/v1/portal/../operator/staff",
    ] {
        assert_eq!(operator.get(path).await.status, 404, "{path}");
    }
    let owner = portal.owner("owner@shop.example").await;
    for path in ["/v1/port%61l/status", "/v1/portal/st%61tus", "/v1/operator/../portal/status"] {
        assert_eq!(owner.client.clone().at(console).get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn sessions_of_one_part_open_nothing_at_the_other_listener() {
    let (portal, console) = private(&[]).await;
    let owner = portal.owner("owner@shop.example").await;
    let mut staff = Client::new(console);
    let opened = staff.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    assert!(opened.header("set-cookie").starts_with("operator_session="), "{opened:?}");
    assert_eq!(staff.get("/v1/operator/businesses").await.body["data"][0]["id"], owner.business);

    let mut at_public = staff.clone().at(portal.public);
    for path in [SESSION, "/v1/operator/businesses", "/v1/operator/staff"] {
        assert_eq!(at_public.get(path).await.status, 404, "{path}");
    }
    assert_eq!(at_public.get("/v1/portal/status").await.status, 401, "staff are nobody's users");
    let mut at_console = owner.client.clone().at(console);
    assert_eq!(at_console.get("/v1/portal/status").await.status, 404);
    for path in [SESSION, "/v1/operator/businesses"] {
        assert_eq!(at_console.get(path).await.status, 401, "{path}: a user is no operator");
    }
}

#[tokio::test]
async fn each_listener_accepts_writes_from_its_own_origin_only() {
    let (portal, console) = private(&[]).await;
    let own_host = |address: SocketAddr| format!("http://{address}");
    for (listener, path, origin, is_own) in [
        (portal.public, "/v1/portal/session", "http://portal.test".to_owned(), true),
        (portal.public, "/v1/portal/session", own_host(portal.public), true),
        (portal.public, "/v1/portal/session", "http://console.test".to_owned(), false),
        (portal.public, "/v1/portal/session", own_host(console), false),
        (console, SESSION, "http://console.test".to_owned(), true),
        (console, SESSION, own_host(console), true),
        (console, SESSION, "http://portal.test".to_owned(), false),
        (console, SESSION, own_host(portal.public), false),
        (console, SESSION, "https://console.test".to_owned(), false),
        (console, SESSION, "null".to_owned(), false),
    ] {
        let answer = Client::new(listener).with_header("origin", &origin).post(path, json!({})).await;
        let expected = if is_own { 400 } else { 403 };
        assert_eq!(answer.status, expected, "{origin} to {listener}{path}: {answer:?}");
    }
}

#[tokio::test]
async fn links_of_the_staff_lead_to_the_console() {
    let (portal, console) = private(&[]).await;
    let mut operator = Client::new(console).with_bearer(OPERATOR_TOKEN);
    let body = json!({ "email": "asha@carrier.example", "name": "Asha Rao", "role": "support" });
    let invited = operator.post("/v1/operator/staff", body).await;
    let link = invited.body["url"].as_str().unwrap();
    assert!(link.starts_with("http://console.test/operator/password#token="), "{link}");
    let path = format!("/v1/operator/staff/{}/password-link", invited.body["id"].as_str().unwrap());
    let link = operator.press(&path).await.body["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with("http://console.test/operator/password#token="), "{link}");

    let settings = &portal.settings;
    let program = env!("CARGO_BIN_EXE_portal-api");
    let printed = test_kit::service_command(program, "create-operator", &settings.database, &settings.broker)
        .env("WAYBILL_PUBLIC__URL", "http://portal.test")
        .envs([URL])
        .args(["--email", "ravi@carrier.example", "--name", "Ravi"])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let link = printed.lines().last().unwrap();
    assert!(link.starts_with("http://console.test/operator/password#token="), "{printed}");

    let mut owner = portal.owner("owner@shop.example").await;
    // Checks that the link leads to the portal.
    portal.invite(&mut owner, "user@shop.example", "viewer").await;
}

#[tokio::test]
async fn failures_are_limited_at_the_console_too() {
    let settings = [LISTENER, URL, ("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", "2")];
    let portal = Portal::with(&settings).await;
    let mut stranger = Client::new(portal.console.unwrap());
    for status in [401, 401, 429] {
        assert_eq!(stranger.post(SESSION, json!({ "token": "x" })).await.status, status);
    }
}

async fn page(listener: SocketAddr, path: &str) -> Response {
    Client::new(listener).open(path).await
}

#[tokio::test]
async fn each_listener_has_its_own_pages_only() {
    let folder = built("console");
    let (portal, console) = private(&[("WAYBILL_PAGES__FOLDER", folder.to_str().unwrap())]).await;
    for (path, of_portal, of_console) in [
        ("/log-in", 200, 404),
        ("/orders/ord_1", 200, 404),
        ("/invitation", 200, 404),
        ("/operator", 404, 200),
        ("/operator/businesses", 404, 200),
        ("/operator/password", 404, 200),
    ] {
        for (listener, status) in [(portal.public, of_portal), (console, of_console)] {
            let answer = page(listener, path).await;
            assert_eq!(answer.status(), status, "{path} at {listener}");
            assert_eq!(answer.text().await.unwrap(), INDEX, "the application shows what is missing");
        }
    }
    let first = get_as_written(console, "/").await.to_ascii_lowercase();
    assert!(first.starts_with("http/1.1 302 ") && first.contains("location: /operator\r\n"), "{first}");
    let tag = page(portal.public, "/").await.headers()["etag"].to_str().unwrap().to_owned();
    let again = Client::new(portal.public).with_header("if-none-match", &tag).open("/operator").await;
    assert_eq!(again.status(), 404, "the cached page is another one");
    assert_eq!(again.text().await.unwrap(), INDEX, "a 404 without a page is blank");
    for listener in [portal.public, console] {
        assert_eq!(page(listener, "/assets/main-1a2b.js").await.status(), 200, "both have the same build");
    }
}

#[tokio::test]
async fn pages_of_the_console_have_the_same_security_headers() {
    let folder = built("console-headers");
    let portal = Portal::with(&[
        UNLIMITED,
        LISTENER,
        ("WAYBILL_PUBLIC__CONSOLE_URL", "https://console.test"),
        ("WAYBILL_PAGES__FOLDER", folder.to_str().unwrap()),
        ("WAYBILL_PAGES__PAYMENT_ORIGINS", "https://pay.example"),
    ])
    .await;
    let (at_public, at_console) =
        (page(portal.public, "/").await, page(portal.console.unwrap(), "/operator").await);
    for name in ["x-content-type-options", "referrer-policy", "x-frame-options", "cross-origin-opener-policy"]
    {
        assert!(at_console.headers().contains_key(name), "{name}");
        assert_eq!(at_public.headers().get(name), at_console.headers().get(name), "{name}");
    }
    let policy = at_console.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("pay.example"), "the console shows no payment page");
    assert_eq!(at_console.headers()["strict-transport-security"], "max-age=31536000");
    assert!(!at_public.headers().contains_key("strict-transport-security"), "the portal is plain HTTP here");
}
