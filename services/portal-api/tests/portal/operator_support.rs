//! Reads that the operator uses to support a business.

use serde_json::{Value, json};

use crate::answers;
use crate::client::Client;
use crate::peers::answer_of;
use crate::portal::Portal;
use crate::profile::{PROFILE, complete_profile};
use crate::staff::person;

const BUSINESSES: &str = "/v1/operator/businesses";
const ORDER: &str = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const AT: &str = "2026-01-01T00:00:00Z";

async fn found(operator: &mut Client, query: &str) -> Vec<String> {
    let page = operator.get(&format!("{BUSINESSES}?{query}")).await;
    assert_eq!(page.status, 200, "{query}: {page:?}");
    let ids = page.body["data"].as_array().unwrap().iter();
    ids.map(|business| business["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn businesses_are_found_by_name_mail_id_and_state() {
    let portal = Portal::start().await;
    let mut operator = portal.operator();
    let first = portal.owner("Asha_1@one.example").await.business;
    let second = portal.owner("ravi@two.example").await.business;
    let body =
        json!({ "businessName": "100% Coffee", "email": "c@three.example", "password": "correct horse" });
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let third = portal.stranger().post("/v1/portal/accounts", body).await;
    let third = third.body["businessId"].as_str().unwrap().to_owned();

    assert_eq!(found(&mut operator, "search=coffee").await, [third.as_str()]);
    assert_eq!(found(&mut operator, "search=asha_1").await, [first.as_str()]);
    assert_eq!(found(&mut operator, "search=TWO.example").await, [second.as_str()]);
    assert_eq!(found(&mut operator, "search=corner").await, [second.as_str(), first.as_str()]);
    assert_eq!(found(&mut operator, &format!("search={first}")).await, [first.as_str()]);
    assert_eq!(found(&mut operator, "search=100%25").await, [third.as_str()], "a sign stands for itself");
    assert!(found(&mut operator, "search=o%25e").await.is_empty());
    assert!(found(&mut operator, "search=ash_").await.is_empty());

    operator
        .patch(&format!("{BUSINESSES}/{second}"), json!({ "status": "active", "subscription": "active" }))
        .await;
    assert_eq!(found(&mut operator, "status=active").await, [second.as_str()]);
    assert_eq!(found(&mut operator, "subscription=active&search=corner").await, [second.as_str()]);
    assert_eq!(found(&mut operator, "subscription=required").await, [third.as_str(), first.as_str()]);
    let page = format!("subscription=required&limit=1&startingAfter={third}");
    assert_eq!(found(&mut operator, &page).await, [first.as_str()]);
    let refused = operator.get(&format!("{BUSINESSES}?status=open&subscription=paid&search=%20")).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["search", "status", "subscription"]));
}

#[tokio::test]
async fn one_business_is_read_with_its_profile_and_its_people() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut operator = portal.operator();
    let path = format!("{BUSINESSES}/{}", owner.business);
    let read = operator.get(&path).await;
    assert_eq!(read.status, 200, "{read:?}");
    let listed = operator.get(BUSINESSES).await.body["data"][0].clone();
    for (name, value) in listed.as_object().unwrap() {
        // A call of its own reads a refusal.
        if !["refused", "askedAgain"].contains(&name.as_str()) {
            assert_eq!(&read.body[name], value, "{name}");
        }
    }
    assert_eq!(read.body["pickupProfile"], owner.client.get(PROFILE).await.body);
    assert_eq!(read.body["pickupProfile"]["complete"], false);
    assert_eq!(read.body["users"], 1);
    let profile = owner.client.put(PROFILE, complete_profile()).await.body;
    assert_eq!((&profile["complete"], &profile["phone"]), (&json!(true), &json!("+919876543210")));
    let (mut viewer, _) = person(&portal, "viewer@operator.example", "viewer").await;
    for reader in [&mut operator, &mut viewer] {
        assert_eq!(reader.get(&path).await.body["pickupProfile"], profile);
    }
    for id in ["biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        for rest in ["", "/health"] {
            let refused = operator.get(&format!("{BUSINESSES}/{id}{rest}")).await;
            assert_eq!((refused.status, refused.code()), (404, "business_not_found"));
        }
    }
}

fn endpoint() -> Value {
    json!({
        "id": "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "url": "https://shop.example/hook?token=secret", "events": [],
        "modes": [], "status": "failing", "lastDelivery": { "at": null, "label": "Never" },
        "connectionTest": "passed", "forgedRefused": false, "nextSecret": null, "maxPerSecond": null,
        "parkedDeliveries": 0, "trouble": null, "createdAt": AT,
    })
}

#[tokio::test]
async fn health_is_gathered_from_all_owners() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let of = format!("internal/businesses/{}", owner.business);
    portal.peers.wallet(&owner.business, 1_000, true);
    portal.peers.answer(
        format!("GET /order-api/{of}/orders/activity"),
        200,
        json!({
            "live": { "lastAt": AT, "last24h": 3, "pending": 1 },
            "test": { "lastAt": null, "last24h": 0, "pending": 0 },
        }),
    );
    portal.peers.answer(
        format!("GET /webhook-dispatcher/{of}/webhook-endpoints"),
        200,
        json!({ "data": [endpoint()], "hasMore": false }),
    );
    let path = format!("{BUSINESSES}/{}/health", owner.business);
    let health = portal.operator().get(&path).await;
    assert_eq!(health.status, 200, "{health:?}");
    let health = health.body;
    assert_eq!(health["incomplete"], json!([]));
    assert_eq!(health["balancePaise"], 1_000);
    assert_eq!(health["lowBalanceThresholdPaise"], 50_000);
    assert_eq!(health["orders"]["live"], json!({ "lastAt": AT, "last24h": 3, "pending": 1 }));
    assert_eq!(health["indicators"]["wallet"]["code"], "low_balance");
    assert_eq!(health["goLive"]["items"][4]["at"], AT);
    assert_eq!(health["endpoints"][0]["url"], "https://shop.example/hook", "a query may carry a secret");
    let problems = health["problems"].as_array().unwrap().iter();
    let codes: Vec<_> = problems.map(|problem| problem["code"].as_str().unwrap()).collect();
    let expected = ["wallet_low", "orders_pending", "webhook_endpoint_failing", "webhook_signature_ignored"];
    assert_eq!(codes, expected);
}

#[tokio::test]
async fn who_does_not_answer_is_named_and_the_rest_is_shown() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let of = format!("internal/businesses/{}", owner.business);
    portal.peers.answer(format!("GET /order-api/{of}/orders/activity"), 503, json!({}));
    portal.peers.fail("webhook-dispatcher");
    let path = format!("{BUSINESSES}/{}/health", owner.business);
    let health = portal.operator().get(&path).await;
    assert_eq!(health.status, 200, "{health:?}");
    let health = health.body;
    assert_eq!(health["incomplete"], json!(["webhook-dispatcher", "order-api"]));
    assert_eq!((&health["orders"], &health["endpoints"]), (&Value::Null, &Value::Null));
    assert_eq!(health["indicators"]["webhook"], json!({ "code": "unknown", "label": "Unknown" }));
    assert_eq!(health["indicators"]["testApi"]["label"], "Not created");
    assert_eq!(health["balancePaise"], 0);
}

fn order(business: &str) -> Value {
    let entropy = domain::Entropy::seeded(5);
    let code = domain::TrackingCode::generate(domain::Mode::Test, &entropy).to_string();
    let order = json!({
        "id": ORDER, "serviceOrderId": ORDER, "orderReference": "shop-1", "orderSource": "business_website",
        "trackingCode": code, "trackingUrl": "http://t.test", "status": "created",
        "codStatus": "not_applicable", "mode": "test", "customer": {}, "delivery": {}, "pickup": {},
        "package": {}, "payment": {}, "notes": {}, "feeChargedPaise": 0, "driver": null, "reason": null,
        "codDiscrepancyPaise": null, "createdAt": AT, "updatedAt": AT,
    });
    json!({ "businessId": business, "order": order })
}

#[tokio::test]
async fn orders_of_all_businesses_that_need_attention_are_listed_with_their_business() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let mut operator = portal.operator();
    let call = "GET /order-api/internal/orders/exceptions";
    let counts = json!({ "failed": 1, "unassigned": 0, "stuck": 2 });
    let mut listed = order(&business);
    listed["order"]["since"] = json!(AT);
    let limits = json!({ "unassignedMinutes": 30, "silentMinutes": 240 });
    let page = json!({
        "counts": counts, "attemptsMax": 3, "limits": limits, "data": [listed], "hasMore": true,
    });
    portal.peers.answer(call, 200, page);
    let all = operator.get("/v1/operator/exceptions").await;
    assert_eq!(all.status, 200, "{all:?}");
    assert_eq!(all.body["data"][0]["business"], json!({ "id": business, "name": "Corner Shop" }));
    assert_eq!(all.body["data"][0]["order"]["since"], AT);
    assert_eq!((&all.body["counts"], &all.body["hasMore"]), (&counts, &json!(true)));
    assert_eq!(all.body["limits"], limits);
    let of_one = format!("/v1/operator/exceptions?kind=stuck&decision=none&area=5600&businessId={business}");
    assert_eq!(operator.get(&of_one).await.status, 200);
    let asked = portal.peers.asked(call);
    assert_eq!(asked[0].query, "kind=failed");
    assert_eq!(asked[1].query, format!("area=5600&business={business}&decision=none&kind=stuck"));
    let log = operator.get("/v1/operator/audit-log?action=orders.read").await.body;
    assert_eq!(log["data"][0]["details"], json!({ "orders": [ORDER] }));
    let refused = operator.get("/v1/operator/exceptions?kind=slow&decision=all&businessId=x&mode=live").await;
    assert_eq!(
        (refused.status, refused.invalid_fields()),
        (400, vec!["businessId", "decision", "kind", "mode"])
    );
}

#[tokio::test]
async fn any_order_is_found_by_its_code_with_its_business_and_its_timeline() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let mut operator = portal.operator();
    let call = "GET /order-api/internal/orders";
    portal.peers.answer(call, 200, json!([order(&owner.business)]));
    let found = operator.get("/v1/operator/orders?code=shop-1").await;
    assert_eq!(found.status, 200, "{found:?}");
    assert_eq!(found.body["data"][0]["business"], json!({ "id": owner.business, "name": "Corner Shop" }));
    assert_eq!(found.body["data"][0]["order"]["id"], ORDER);
    assert_eq!(portal.peers.asked(call)[0].query, "code=shop-1");
    let refused = operator.get("/v1/operator/orders").await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["search"]));
    let page = json!({ "data": [order(&owner.business)], "hasMore": true, "next": ORDER });
    let at_peer = "GET /order-api/internal/orders/search";
    portal.peers.answer(at_peer, 200, page);
    let search = format!("business={}&limit=20&search=asha", owner.business);
    assert_eq!(
        operator.get(&format!("/v1/operator/orders?search=asha&businessId={}", owner.business)).await.status,
        200
    );
    assert_eq!(portal.peers.asked(at_peer)[0].query, search);
    let more = format!("city=kochi&limit=5&startingAfter={ORDER}&status=failed");
    let page = operator.get(&format!("/v1/operator/orders?{more}")).await;
    assert_eq!((page.status, &page.body["hasMore"], &page.body["next"]), (200, &json!(true), &json!(ORDER)));
    assert_eq!(page.body["data"][0]["business"]["name"], "Corner Shop");
    assert_eq!(portal.peers.asked(at_peer)[1].query, more);
    let period = "createdFrom=2026-01-01T00:00:00Z&createdUntil=2026-02-01T00:00:00Z";
    assert_eq!(operator.get(&format!("/v1/operator/orders?search=asha&{period}")).await.status, 200);
    let asked = portal.peers.asked(at_peer)[2].query.clone();
    assert!(asked.contains("createdFrom=2026-01-01") && asked.contains("createdUntil=2026-02-01"), "{asked}");
    assert_eq!(operator.get(&format!("/v1/operator/orders?{period}")).await.status, 200);
    let refused = ["code=shop-1&city=kochi", "status=failed", "createdFrom=2026-01-01T00:00:00Z"];
    for query in refused.map(str::to_owned).into_iter().chain([format!("code=shop-1&{period}")]) {
        let refused = operator.get(&format!("/v1/operator/orders?{query}")).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["search"]), "{query}");
    }

    let timeline = json!({ "data": [], "hasMore": false });
    let of = format!("GET /order-api/internal/businesses/{}/orders/{ORDER}/events", owner.business);
    portal.peers.answer(of.as_str(), 200, timeline.clone());
    let events = operator.get(&format!("/v1/operator/orders/{ORDER}/events?limit=5")).await;
    assert_eq!((events.status, events.body), (200, timeline));
    assert_eq!(portal.peers.asked(&of)[0].query, "limit=5");

    let of = format!("GET /order-api/internal/businesses/{}/orders/{ORDER}/evidence", owner.business);
    portal.peers.answer(of, 200, answer_of(&answers::evidence()));
    let evidence = operator.get(&format!("/v1/operator/orders/{ORDER}/evidence")).await;
    assert_eq!((evidence.status, &evidence.body["attempts"][0]["attempt"]), (200, &json!(1)));
    let file = format!("attachment; filename=\"evidence-{ORDER}.json\"");
    assert_eq!(evidence.header("content-disposition"), file);

    portal.peers.answer(call, 200, json!([]));
    for of in ["events", "evidence"] {
        let refused = operator.get(&format!("/v1/operator/orders/{ORDER}/{of}")).await;
        assert_eq!((refused.status, refused.code()), (404, "order_not_found"), "{of}");
    }
    assert_eq!(owner.client.clone().get("/v1/operator/orders?code=x").await.status, 401);
}
