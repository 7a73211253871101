//! Forwarded calls: the right peer receives the session's business and the unchanged body and query, and its answer is
//! returned.

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::{self, DELIVERY, ENDPOINT, KEY, ORDER, RECOVERY};
use crate::peers::answer_of;
use crate::portal::Portal;

struct Relay {
    call: (&'static str, String),
    /// The peer, and the path behind the business's own.
    at: (&'static str, String),
    /// What the peer answers, and the status that the caller sees.
    answer: (Value, u16),
}

fn relay(call: (&'static str, &str), at: (&'static str, &str), answer: (Value, u16)) -> Relay {
    Relay { call: (call.0, call.1.to_owned()), at: (at.0, at.1.to_owned()), answer }
}

fn key_relays() -> Vec<Relay> {
    let keys = "key-management";
    let path = |text: &str| text.replace("{key}", KEY);
    vec![
        relay(("GET", "/api-keys?limit=5"), (keys, "GET /api-keys"), (answers::page(answers::key()), 200)),
        relay(
            ("POST", "/api-keys"),
            (keys, "POST /api-keys"),
            (answer_of(&answers::created_key("sk_test_x")), 201),
        ),
        relay(
            ("POST", &path("/api-keys/{key}/revoke")),
            (keys, &path("POST /api-keys/{key}/revoke")),
            (answer_of(&answers::revoked_key()), 200),
        ),
        relay(
            ("POST", &path("/api-keys/{key}/rotate")),
            (keys, &path("POST /api-keys/{key}/rotate")),
            (answer_of(&answers::created_key("sk_test_y")), 200),
        ),
    ]
}

fn order_relays() -> Vec<Relay> {
    let orders = "order-api";
    let path = |text: &str| text.replace("{order}", ORDER);
    vec![
        relay(
            (
                "GET",
                "/orders?mode=test&limit=5&status=created&codStatus=pending&paymentType=cod&createdFrom=d&createdUntil=e&search=c",
            ),
            (orders, "GET /orders"),
            (answers::page(answers::order()), 200),
        ),
        relay(
            ("GET", &path("/orders/{order}")),
            (orders, &path("GET /orders/{order}")),
            (answer_of(&answers::order()), 200),
        ),
        relay(
            ("GET", &path("/orders/{order}/events?limit=5")),
            (orders, &path("GET /orders/{order}/events")),
            (answer_of(&answers::timeline()), 200),
        ),
        relay(
            ("GET", &path("/orders/{order}/evidence")),
            (orders, &path("GET /orders/{order}/evidence")),
            (answer_of(&answers::evidence()), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/simulate")),
            (orders, &path("POST /orders/{order}/simulate")),
            (answer_of(&answers::simulated()), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/cancel")),
            (orders, &path("POST /orders/{order}/cancel")),
            (answer_of(&answers::order()), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/reattempt?seen=none")),
            (orders, &path("POST /orders/{order}/reattempt")),
            (answer_of(&answers::order()), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/return")),
            (orders, &path("POST /orders/{order}/return")),
            (answer_of(&answers::order()), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/delivery-code")),
            (orders, &path("POST /orders/{order}/delivery-code")),
            (json!({ "deliveryCode": "482915" }), 200),
        ),
        relay(
            ("POST", &path("/orders/{order}/delivery-details")),
            (orders, &path("POST /orders/{order}/delivery-details")),
            (answer_of(&answers::order()), 200),
        ),
        relay(
            ("GET", "/exceptions?kind=failed&decision=pending"),
            (orders, "GET /exceptions"),
            (answer_of(&answers::exceptions()), 200),
        ),
    ]
}

fn wallet_relays() -> Vec<Relay> {
    let path = |text: &str| text.replace("{order}", ORDER);
    vec![
        relay(
            ("GET", &path("/wallet/entries?limit=5&kind=top_up&since=a&until=b&orderId={order}")),
            ("wallet", "GET /entries"),
            (answers::page(answers::entry()), 200),
        ),
        relay(
            ("GET", "/wallet/top-ups"),
            ("wallet", "GET /top-ups"),
            (answers::page(answers::top_up()), 200),
        ),
        relay(
            ("GET", "/wallet/top-ups/top_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            ("wallet", "GET /top-ups/top_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            (answer_of(&answers::top_up()), 200),
        ),
        relay(
            ("GET", "/wallet/entries/totals?since=s&until=u"),
            ("wallet", "GET /entries/totals"),
            (answer_of(&answers::statement_totals()), 200),
        ),
        relay(
            ("GET", "/wallet/spend?days=2&timeZone=UTC"),
            ("wallet", "GET /spend"),
            (answer_of(&answers::spend()), 200),
        ),
        relay(
            (
                "GET",
                "/cod?limit=5&status=settled&discrepant=true&differs=true&orderId=o&late=true&dueFrom=a&dueUntil=b",
            ),
            ("wallet", "GET /cash"),
            (answer_of(&answers::cash()), 200),
        ),
        relay(("POST", "/wallet/top-ups"), ("wallet", "POST /top-ups"), (answer_of(&answers::top_up()), 201)),
    ]
}

fn webhook_relays() -> Vec<Relay> {
    let hooks = "webhook-dispatcher";
    let path = |text: &str| text.replace("{whe}", ENDPOINT).replace("{whd}", DELIVERY);
    vec![
        relay(
            ("GET", "/webhook-endpoints"),
            (hooks, "GET /webhook-endpoints"),
            (answers::page(answers::endpoint()), 200),
        ),
        relay(
            ("POST", "/webhook-endpoints"),
            (hooks, "POST /webhook-endpoints"),
            (answer_of(&answers::created_endpoint("whsec_x")), 201),
        ),
        relay(
            ("GET", &path("/webhook-endpoints/{whe}")),
            (hooks, &path("GET /webhook-endpoints/{whe}")),
            (answer_of(&answers::endpoint()), 200),
        ),
        relay(
            ("PATCH", &path("/webhook-endpoints/{whe}")),
            (hooks, &path("PATCH /webhook-endpoints/{whe}")),
            (answer_of(&answers::endpoint()), 200),
        ),
        relay(
            ("DELETE", &path("/webhook-endpoints/{whe}")),
            (hooks, &path("DELETE /webhook-endpoints/{whe}")),
            (Value::Null, 204),
        ),
        relay(
            ("POST", &path("/webhook-endpoints/{whe}/test")),
            (hooks, &path("POST /webhook-endpoints/{whe}/test")),
            (answer_of(&answers::test_result()), 200),
        ),
        // Errors too: the peer that knows the filters reports all of them.
        relay(
            (
                "GET",
                &path(
                    "/webhook-endpoints/{whe}/deliveries?status=pending&event=order.created&mode=live&responseStatus=5xx&orderReference=a&since=b&until=c&limit=0&statsu=&mode=x",
                ),
            ),
            (hooks, &path("GET /webhook-endpoints/{whe}/deliveries")),
            (answer_of(&answers::deliveries()), 200),
        ),
        relay(
            ("GET", &path("/webhook-deliveries/{whd}")),
            (hooks, &path("GET /webhook-deliveries/{whd}")),
            (answer_of(&answers::delivery_details()), 200),
        ),
        relay(
            ("POST", &path("/webhook-deliveries/{whd}/redeliver")),
            (hooks, &path("POST /webhook-deliveries/{whd}/redeliver")),
            (answer_of(&answers::redelivered()), 202),
        ),
    ]
}

fn tool_relays() -> Vec<Relay> {
    let at = |call: &'static str, path: &str, answer: (Value, u16)| {
        let path = format!("/webhook-endpoints/{ENDPOINT}{path}");
        let far = format!("{call} {}", path.split('?').next().unwrap_or_default());
        relay((call, &path), ("webhook-dispatcher", &far), answer)
    };
    let recovery_path = format!("/recoveries/{RECOVERY}");
    vec![
        relay(
            ("GET", "/events?mode=test&limit=5&event=order.created&search=c"),
            ("order-api", "GET /events"),
            (answer_of(&answers::events()), 200),
        ),
        at("POST", "/secret/rotate", (answer_of(&answers::created_endpoint("whsec_y")), 200)),
        at("POST", "/secret/activate", (answer_of(&answers::endpoint()), 200)),
        at("POST", "/recover", (answer_of(&answers::recovery()), 202)),
        at("GET", "/recoveries?limit=5", (answers::page(answers::recovery()), 200)),
        at("GET", &recovery_path, (answer_of(&answers::recovery()), 200)),
        at("POST", &format!("{recovery_path}/cancel"), (answer_of(&answers::recovery()), 200)),
        at("POST", "/verify-signature", (answer_of(&answers::findings()), 200)),
    ]
}

/// The whole call at the peer.
fn far_end(relay: &Relay, business: &str) -> String {
    let (peer, call) = (relay.at.0, &relay.at.1);
    let (method, rest) = call.split_once(' ').unwrap();
    let of = if peer == "wallet" { "wallets" } else { "businesses" };
    format!("{method} /{peer}/internal/{of}/{business}{rest}")
}

#[tokio::test]
async fn each_call_reaches_its_owner_for_the_sessions_business() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let body = json!({ "mode": "test", "anything": [1, null, "x"] });
    let relays = [key_relays(), order_relays(), wallet_relays(), webhook_relays(), tool_relays()];
    for relay in relays.into_iter().flatten() {
        let far_end = far_end(&relay, &owner.business);
        portal.peers.answer(&far_end, 200, relay.answer.0.clone());
        let (method, path) = (relay.call.0, format!("/v1/portal{}", relay.call.1));
        let method: Method = method.parse().unwrap();
        let button = ["/revoke", "/test", "/redeliver", "/activate", "/cancel", "/return", "/delivery-code"]
            .iter()
            .any(|end| path.ends_with(end));
        let takes_body = matches!(method, Method::POST | Method::PATCH) && !button;
        let answer = if button {
            owner.client.press(&path).await
        } else if takes_body {
            owner.client.raw(method, &path, "application/json", &body.to_string()).await
        } else if method == Method::DELETE {
            owner.client.delete(&path).await
        } else {
            owner.client.get(&path).await
        };
        assert_eq!(answer.status, relay.answer.1, "{path}: {answer:?}");
        assert_eq!(answer.body, relay.answer.0, "{path}");
        if answer.status != 204 {
            assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        }
        let asked = portal.peers.asked(&far_end);
        assert_eq!(asked.len(), 1, "{far_end}");
        if takes_body {
            assert_eq!(asked[0].body, body, "{path}");
        }
        let query = path.split_once('?').map_or("", |(_, query)| query);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            assert!(asked[0].query.split('&').any(|asked| asked == pair), "{path}: {}", asked[0].query);
        }
    }
}

#[tokio::test]
async fn the_served_packages_come_from_order_api() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let names = json!(["waybill-1.0.0-py3-none-any.whl", "waybill-client-1.0.0.tgz"]);
    portal.peers.answer("GET /order-api/internal/packages", 200, names.clone());
    let answer = owner.client.get("/v1/portal/packages").await;
    assert_eq!((answer.status, answer.body), (200, json!({ "data": names })));
}

#[tokio::test]
async fn a_peers_refusal_reaches_the_caller_unchanged() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let refusal = json!({
        "code": "invalid_request", "message": "url must be absolute.", "requestId": "req_theirs",
        "errors": [{ "field": "url", "code": "invalid_format", "message": "url must be absolute." }],
    });
    let far_end =
        format!("POST /webhook-dispatcher/internal/businesses/{}/webhook-endpoints", owner.business);
    portal.peers.answer(far_end, 400, refusal);
    let refused = owner.client.post("/v1/portal/webhook-endpoints", json!({ "url": "x" })).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid_request"));
    assert_eq!(refused.invalid_fields(), ["url"]);
    assert_eq!(refused.body["requestId"], refused.header("request-id"), "under the caller's own request id");
}

#[tokio::test]
async fn malformed_ids_are_not_found_and_never_reach_a_peer() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for id in
        ["x", "..", "%2e%2e", "..%2F..", "%00", "key_01arz3ndektsv4rrffq69g5fav", "ord_", "%F0%9F%92%A9"]
    {
        for (method, path, code) in [
            (Method::POST, format!("/api-keys/{id}/revoke"), "api_key_not_found"),
            (Method::GET, format!("/orders/{id}"), "order_not_found"),
            (Method::GET, format!("/wallet/top-ups/{id}"), "top_up_not_found"),
            (Method::POST, format!("/orders/{id}/simulate"), "order_not_found"),
            (Method::PATCH, format!("/webhook-endpoints/{id}"), "webhook_endpoint_not_found"),
            (Method::GET, format!("/webhook-endpoints/{id}/deliveries"), "webhook_endpoint_not_found"),
            (Method::POST, format!("/webhook-endpoints/{id}/secret/rotate"), "webhook_endpoint_not_found"),
            (Method::POST, format!("/webhook-endpoints/{id}/recover"), "webhook_endpoint_not_found"),
            (
                Method::GET,
                format!("/webhook-endpoints/{ENDPOINT}/recoveries/{id}"),
                "webhook_recovery_not_found",
            ),
            (Method::GET, format!("/webhook-deliveries/{id}"), "webhook_delivery_not_found"),
        ] {
            let answer =
                owner.client.raw(method, &format!("/v1/portal{path}"), "application/json", "{}").await;
            // A client resolves `..` itself, and then asks for another address.
            let resolved_by_client = [".", "%2e"].iter().any(|dot| id == dot.repeat(2));
            assert!(answer.status < 500, "{path}: {answer:?}");
            if !resolved_by_client {
                assert_eq!((answer.status, answer.code()), (404, code), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn pages_and_modes_are_checked_here() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for (path, field) in [
        ("/api-keys?limit=0", "limit"),
        ("/orders?limit=101", "limit"),
        ("/events?limit=101", "limit"),
        ("/events?mode=real", "mode"),
        ("/orders?limit=x", "limit"),
        ("/orders?mode=real", "mode"),
        ("/orders?mode=test&mode=live", "mode"),
        ("/orders/stream?mode=", "mode"),
        ("/wallet/entries?limit=-1", "limit"),
        ("/wallet/entries?orderId=x", "orderId"),
        ("/wallet/entries.csv?orderReference=", "orderReference"),
        ("/cod?limit=0", "limit"),
        ("/cod?statsu=settled", "statsu"),
        ("/orders?status=%00", "status"),
    ] {
        let refused = owner.client.get(&format!("/v1/portal{path}")).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec![field]), "{path}");
    }
}

#[tokio::test]
async fn an_unreachable_peer_is_503() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(
        format!("GET /wallet/internal/wallets/{}", owner.business),
        500,
        json!({ "code": "internal_error", "message": "no" }),
    );
    let away = owner.client.get("/v1/portal/wallet").await;
    assert_eq!((away.status, away.code()), (503, "temporarily_unavailable"));
}

#[tokio::test]
async fn a_top_up_is_a_go_live_fact_at_once() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.peers.answer(
        format!("POST /wallet/internal/wallets/{}/top-ups", owner.business),
        201,
        answer_of(&answers::top_up()),
    );
    let answer = owner.client.post("/v1/portal/wallet/top-ups", json!({ "amountPaise": 100 })).await;
    assert_eq!(answer.status, 201);
    let missing = portal.ordering(&owner.business).await["missing"].clone();
    assert!(!missing.as_array().unwrap().contains(&json!("wallet_funded")), "{missing}");
}

#[tokio::test]
async fn a_secret_is_rotated_without_a_body_too_and_bodies_are_limited() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let base =
        format!("/webhook-dispatcher/internal/businesses/{}/webhook-endpoints/{ENDPOINT}", owner.business);
    let (rotate, verify) = (format!("POST {base}/secret/rotate"), format!("POST {base}/verify-signature"));
    portal.peers.answer(&rotate, 200, answer_of(&answers::created_endpoint("whsec_y")));
    portal.peers.answer(&verify, 200, answer_of(&answers::findings()));
    let path = |rest: &str| format!("/v1/portal/webhook-endpoints/{ENDPOINT}/{rest}");
    assert_eq!(owner.client.press(&path("secret/rotate")).await.status, 200);
    assert_eq!(portal.peers.asked(&rotate)[0].body, Value::Null);
    let body = |length: usize| json!({ "body": "x".repeat(length) });
    assert_eq!(owner.client.post(&path("verify-signature"), body(60 * 1024)).await.status, 200);
    assert_eq!(owner.client.post(&path("verify-signature"), body(70 * 1024)).await.status, 413);
}
