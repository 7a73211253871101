//! Keys that may not do everything: scopes, IP allow-lists and an end, also for keys that were verified before.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use demo::clients::{Api, Reply};
use domain::{IpAllowList, KeyRestrictions, KeyScope, Mode};
use reqwest::Method;
use serde_json::{Value, json};
use strum::VariantArray;
use test_kit::smallest_order;

use crate::business::Business;
use crate::harness::OrderApi;

const PROXY: [(&str, &str); 1] = [("WAYBILL_LIMITS__TRUSTED_PROXIES", "127.0.0.1")];

fn scoped(scopes: &[KeyScope]) -> KeyRestrictions {
    KeyRestrictions { scopes: Some(scopes.to_vec()), ..KeyRestrictions::default() }
}

fn from(networks: &[&str]) -> KeyRestrictions {
    let networks = networks.iter().map(ToString::to_string).collect::<Vec<_>>();
    let ip_allow_list = Some(IpAllowList::try_from(networks).unwrap());
    KeyRestrictions { ip_allow_list, ..KeyRestrictions::default() }
}

struct Caller {
    service: OrderApi,
    api: Api,
    business: Business,
}

impl Caller {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let service = OrderApi::with(settings).await;
        let api = Api::new(service.base()).unwrap();
        let business = service.business(1_000_000);
        Self { service, api, business }
    }

    fn key(&self, mode: Mode, restrictions: KeyRestrictions) -> String {
        self.service.restricted_key(self.business.id, mode, restrictions)
    }

    async fn call(&self, key: &str, method: Method, path: &str) -> Reply {
        let request = self.api.request(method.clone(), path).bearer_auth(key);
        let request = match method {
            Method::GET => request,
            // A body for each call: calls read the fields that they know.
            _ => request.header("Idempotency-Key", "mine").json(&json!({"event": "driver.assigned"})),
        };
        self.api.send(request).await.unwrap()
    }

    async fn list_from(&self, key: &str, forwarded: &[&str]) -> Reply {
        let mut request = self.api.request(Method::GET, "/integration/orders").bearer_auth(key);
        for value in forwarded {
            request = request.header("X-Forwarded-For", value.as_bytes());
        }
        self.api.send(request).await.unwrap()
    }
}

/// Each operation with an API key, and the scope that it needs. The paths are those of the OpenAPI document.
const CALLS: [(&str, &str, KeyScope); 13] = [
    ("post", "/v1/integration/orders", KeyScope::WriteOrders),
    ("get", "/v1/integration/orders", KeyScope::ReadOrders),
    ("get", "/v1/integration/orders/{id}", KeyScope::ReadOrders),
    ("get", "/v1/integration/orders/{id}/events", KeyScope::ReadOrders),
    ("post", "/v1/integration/orders/{id}/cancel", KeyScope::WriteOrders),
    ("post", "/v1/integration/orders/{id}/delivery-code", KeyScope::WriteOrders),
    ("post", "/v1/integration/orders/{id}/delivery-details", KeyScope::WriteOrders),
    ("get", "/v1/integration/orders/{id}/evidence", KeyScope::ReadOrders),
    ("post", "/v1/integration/orders/{id}/reattempt", KeyScope::WriteOrders),
    ("post", "/v1/integration/orders/{id}/return", KeyScope::WriteOrders),
    ("post", "/v1/integration/orders/{id}/simulate", KeyScope::WriteOrders),
    ("get", "/v1/integration/events", KeyScope::ReadEvents),
    ("get", "/v1/integration/events/{id}", KeyScope::ReadEvents),
];

#[test]
fn every_operation_needs_a_scope() {
    let document: Value =
        serde_json::from_str(include_str!("../../../../proto-docs/openapi/order-api.json")).unwrap();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, _)| path.starts_with("/v1/integration"))
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone()))
        })
        .collect();
    let listed = CALLS.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(described, listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_does_what_its_scopes_name_and_nothing_else() {
    let caller = Caller::start(&[]).await;
    for mode in [Mode::Test, Mode::Live] {
        for allowed in KeyScope::VARIANTS {
            let key = caller.key(mode, scoped(&[*allowed]));
            for (method, path, scope) in CALLS {
                let path = path.trim_start_matches("/v1").replace("{id}", "ord_nothing");
                let reply = caller.call(&key, method.to_uppercase().parse().unwrap(), &path).await;
                let case = format!("{mode} key with {allowed}: {method} {path}: {}", reply.text);
                if scope == *allowed {
                    assert_ne!(reply.code(), "insufficient_scope", "{case}");
                } else {
                    assert_eq!((reply.status.as_u16(), reply.code()), (403, "insufficient_scope"), "{case}");
                    assert_eq!(reply.body["requiredScope"], scope.as_str(), "{case}");
                    let message = reply.body["message"].as_str().unwrap();
                    assert!(message.contains(scope.as_str()), "{case}");
                    assert!(reply.header("ratelimit").is_some(), "it is charged: {case}");
                }
            }
        }
        // Two scopes, and verified once: the cached answer is restricted too.
        let key = caller.key(mode, scoped(&[KeyScope::WriteOrders, KeyScope::ReadOrders]));
        let reference = format!("placed-{mode}");
        let placed = caller.business.integration(&key).unwrap();
        placed.create(&reference, &smallest_order(&reference)).await.unwrap().expect(201).unwrap();
        assert_eq!(caller.call(&key, Method::GET, "/integration/orders").await.status, 200);
        assert_eq!(caller.call(&key, Method::GET, "/integration/events").await.code(), "insufficient_scope");
        assert_eq!(caller.service.peers.look_ups(&key), 1);
    }
    let refused = caller.service.count("orders WHERE order_reference NOT LIKE 'placed-%'").await;
    assert_eq!(refused, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_from_its_networks_only() {
    let caller = Caller::start(&PROXY).await;
    let key = caller.key(Mode::Live, from(&["203.0.113.0/24", "2001:db8:1::/48"]));
    let everywhere = caller.key(Mode::Test, KeyRestrictions::default());
    for (forwarded, is_allowed) in [
        (&["203.0.113.7"][..], true),
        (&["2001:db8:1:2::7"], true),
        (&["::ffff:203.0.113.7"], true),
        (&["198.51.100.9, 203.0.113.7"], true),
        (&["198.51.100.9", "203.0.113.7"], true),
        (&["203.0.113.7:4711"], true),
        (&["203.0.114.7"], false),
        (&["2001:db8:2::7"], false),
        (&["203.0.113.7, 198.51.100.9"], false),
        // The address is unknown.
        (&[], false),
        (&[""], false),
        (&["unknown"], false),
        (&["203.0.113.7, unknown"], false),
        (&["203.0.113.7", "\u{ff}"], false),
    ] {
        let reply = caller.list_from(&key, forwarded).await;
        let case = format!("{forwarded:?}: {}", reply.text);
        if is_allowed {
            assert_eq!(reply.status, 200, "{case}");
        } else {
            assert_eq!((reply.status.as_u16(), reply.code()), (403, "address_not_allowed"), "{case}");
            assert!(!reply.text.contains("203.0.113") && !reply.text.contains("2001:db8"), "{case}");
            assert_eq!(reply.header("ratelimit"), None, "the quota of the key is untouched: {case}");
        }
        assert_eq!(caller.list_from(&everywhere, forwarded).await.status, 200, "{case}");
    }
    assert_eq!(caller.service.peers.look_ups(&key), 1, "refused with the cached answer too");
}

/// Without a trusted proxy, the header is ignored.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_address_is_ignored() {
    let caller = Caller::start(&[]).await;
    let (here, elsewhere) =
        (caller.key(Mode::Test, from(&["127.0.0.1"])), caller.key(Mode::Test, from(&["203.0.113.7"])));
    assert_eq!(caller.list_from(&here, &["203.0.113.7"]).await.status, 200);
    assert_eq!(caller.list_from(&elsewhere, &["203.0.113.7"]).await.code(), "address_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_key_is_refused_like_a_guessed_one() {
    let limits = [("WAYBILL_LIMITS__PER_ADDRESS", "true"), ("WAYBILL_LIMITS__FAILED_AUTHENTICATIONS", "3")];
    let caller = Caller::start(&limits).await;
    let key = caller.key(Mode::Test, from(&["203.0.113.7"]));
    for _ in 0..3 {
        assert_eq!(caller.list_from(&key, &[]).await.code(), "address_not_allowed");
    }
    assert_eq!(caller.list_from(&key, &[]).await.code(), "too_many_failures");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_ends_at_its_second() {
    let caller = Caller::start(&[]).await;
    let text = caller.business.test_key.clone();
    let mut key = caller.service.peers.forget_key(&text);
    key.expires_at = Some(caller.service.clock.now() + TimeDelta::seconds(3));
    caller.service.peers.know_key(&text, key);
    let orders = async || caller.call(&text, Method::GET, "/integration/orders").await;
    assert_eq!(orders().await.status, 200);
    caller.service.clock.advance(TimeDelta::seconds(3) - TimeDelta::microseconds(1));
    assert_eq!(orders().await.status, 200);
    caller.service.clock.advance(TimeDelta::microseconds(1));
    let expired = orders().await;
    assert_eq!((expired.status.as_u16(), expired.code()), (401, "api_key_expired"), "{}", expired.text);
    assert_eq!(expired.header("www-authenticate"), Some("Bearer"));
    assert_eq!(caller.service.peers.look_ups(&text), 1, "by the cached answer");

    caller.service.peers.expire_key(&text);
    caller.service.clock.advance(TimeDelta::seconds(5));
    assert_eq!(orders().await.code(), "api_key_expired");
    assert_eq!(caller.service.peers.look_ups(&text), 2, "by key-management");
}
