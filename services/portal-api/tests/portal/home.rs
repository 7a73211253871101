//! The home pages: each role sees its parts, and a service that does not answer is named.

use serde_json::{Value, json};

use crate::peers::{answer_of, at};
use crate::portal::{Owner, Portal};
use crate::staff::person;

const HOME: &str = "/v1/portal/home";
const OPERATOR_HOME: &str = "/v1/operator/home";
const AT: &str = "2026-01-01T00:00:00Z";

fn live_orders() -> Value {
    json!({
        "lastAt": AT, "today": [{ "status": "created", "orders": 3 }], "ended": 10, "delivered": 9,
        "attention": { "failed": 2, "unassigned": 0, "stuck": 1 },
        "attentionLimits": { "unassignedMinutes": 30, "silentMinutes": 240 },
    })
}

fn cash() -> Value {
    json!({
        "outstandingPaise": 5_000, "pendingPaise": 1_000, "withDriversPaise": 1_500, "handedOverShortPaise": 200,
        "withOperatorPaise": 2_500,
        "settledRecentlyPaise": 0, "latePaise": 0, "lateOrders": 0, "discrepancies": 0,
        "ages": [{ "days": "7+", "orders": 1, "amountPaise": 700 }],
    })
}

fn endpoint(status: &str) -> Value {
    json!({
        "id": "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "url": "https://shop.example/hook", "events": [], "modes": [],
        "status": status, "lastDelivery": { "at": null, "label": "Never" }, "connectionTest": "passed",
        "forgedRefused": true, "nextSecret": null, "maxPerSecond": null, "parkedDeliveries": 0, "trouble": null,
        "createdAt": AT,
    })
}

/// All peers answer for the business.
fn tell(portal: &Portal, business: &str) {
    let (of, wallet) =
        (format!("internal/businesses/{business}"), format!("/wallet/internal/wallets/{business}"));
    portal.peers.wallet(business, 70_000, true);
    portal.peers.answer(format!("GET /order-api/{of}/orders/live"), 200, live_orders());
    let day = |day: u8, fees: i64| json!({ "date": format!("2026-01-0{day}"), "feesPaise": fees, "refundsPaise": 0, "orders": 1 });
    let days: Vec<_> = (1..=7).map(|number| day(number, 10_000)).collect();
    let spend = json!({ "timeZone": "Asia/Kolkata", "days": days });
    portal.peers.answer(format!("GET {wallet}/spend"), 200, spend);
    let page = json!({ "totals": cash(), "data": [], "hasMore": false });
    portal.peers.answer(format!("GET {wallet}/cash"), 200, page);
    let endpoints = json!({ "data": [endpoint("active"), endpoint("failing")], "hasMore": false });
    portal.peers.answer(format!("GET /webhook-dispatcher/{of}/webhook-endpoints"), 200, endpoints);
}

async fn read(owner: &mut Owner) -> Value {
    let home = owner.client.get(HOME).await;
    assert_eq!(home.status, 200, "{home:?}");
    home.body
}

#[tokio::test]
async fn the_home_page_is_gathered_from_all_owners() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut other = portal.owner("owner@other.example").await;
    tell(&portal, &owner.business);
    let wallet = json!({
        "balancePaise": 70_000, "owedPaise": 0, "lowBalanceThresholdPaise": 50_000, "daysLeft": 7,
    });
    let expected = json!({
        "orders": live_orders(), "wallet": wallet, "cash": cash(),
        "endpoints": { "total": 2, "failing": 1, "disabled": 0, "paused": 0 }, "incomplete": [],
    });
    assert_eq!(read(&mut owner).await, expected);
    let asked =
        portal.peers.asked(&format!("GET /order-api/internal/businesses/{}/orders/live", owner.business));
    // Midnight in India.
    assert!(asked[0].query.contains("T18%3A30%3A00Z"), "{}", asked[0].query);

    // Another business gets nothing of it.
    assert_eq!(read(&mut other).await["orders"], Value::Null);
}

#[tokio::test]
async fn a_role_sees_its_parts_and_asks_only_for_them() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    tell(&portal, &owner.business);
    let wallet = format!("GET /wallet/internal/wallets/{}", owner.business);
    for (role, sees_money, sees_webhooks) in
        [("support", false, true), ("finance", true, false), ("viewer", true, true)]
    {
        let mut member = portal.member(&mut owner, &format!("{role}@shop.example"), role).await;
        let before = portal.peers.asked(&wallet).len();
        let home = member.get(HOME).await.body;
        assert_eq!(home["orders"], live_orders(), "{role}");
        assert_eq!(home["wallet"].is_object(), sees_money, "{role}");
        assert_eq!(home["cash"].is_object(), sees_money, "{role}");
        assert_eq!(home["endpoints"].is_object(), sees_webhooks, "{role}");
        assert_eq!(home["incomplete"], json!([]), "{role}");
        assert_eq!(portal.peers.asked(&wallet).len() > before, sees_money, "{role}");
    }
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_named_and_the_others_are_shown() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    tell(&portal, &owner.business);
    portal.peers.fail("order-api");
    let home = read(&mut owner).await;
    assert_eq!((&home["incomplete"], &home["orders"]), (&json!(["order-api"]), &Value::Null));
    assert_eq!(home["cash"], cash());
    portal.peers.recover();
    portal.peers.answer(format!("GET /wallet/internal/wallets/{}/spend", owner.business), 503, json!({}));
    let home = read(&mut owner).await;
    assert_eq!((&home["incomplete"], &home["wallet"]["daysLeft"]), (&json!(["wallet"]), &Value::Null));
    assert_eq!(home["wallet"]["balancePaise"], 70_000);
}

#[tokio::test]
async fn the_operator_sees_who_waits_and_who_needs_attention() {
    let portal = Portal::start().await;
    let mut waiting = portal.owner("waiting@shop.example").await;
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let active = portal.owner("active@shop.example").await;
    let mut operator = portal.operator();
    let path = format!("/v1/operator/businesses/{}", active.business);
    assert_eq!(operator.patch(&path, json!({ "status": "active" })).await.status, 200);
    let asked = waiting.client.put("/v1/portal/subscription", json!({ "plan": "growth" })).await;
    assert_eq!(asked.status, 200, "{asked:?}");
    let gone = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let failing = json!([
        { "businessId": gone, "endpointId": "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "failingSince": AT },
        { "businessId": active.business, "endpointId": "whe_01ARZ3NDEKTSV4RRFFQ69G5FAW", "failingSince": AT },
    ]);
    portal.peers.answer("GET /webhook-dispatcher/internal/failing-endpoints", 200, failing);
    let attention = json!({
        "lowBalances": [{ "businessId": active.business, "balancePaise": 0, "owedPaise": 5_000 }],
        "lateCash": [{ "businessId": active.business, "orders": 2, "amountPaise": 900, "dueSince": answer_of(&at()) }],
        "openDiscrepancies": 15,
    });
    portal.peers.answer("POST /wallet/internal/attention", 200, attention);
    let counts = json!({ "failed": 4, "unassigned": 1, "stuck": 0 });
    portal.peers.answer("GET /order-api/internal/orders/exceptions/counts", 200, counts.clone());

    let home = operator.get(OPERATOR_HOME).await;
    assert_eq!(home.status, 200, "{home:?}");
    let (business, name) = (&active.business, "Corner Shop");
    let wait = |value: &Value| (value[0]["id"].clone(), value[0]["requestedPlan"].clone());
    assert_eq!(wait(&home.body["signUps"]), (json!(waiting.business), json!("growth")));
    assert_eq!(home.body["signUps"].as_array().unwrap().len(), 1, "the other one is approved");
    assert_eq!(wait(&home.body["planRequests"]), (json!(waiting.business), json!("growth")));
    assert_eq!(home.body["approvals"], 0);
    assert_eq!(
        home.body["failingEndpoints"],
        json!([{ "businessId": business, "name": name, "failingSince": AT }]),
    );
    assert_eq!(
        home.body["lowBalances"],
        json!([{ "businessId": business, "name": name, "balancePaise": 0, "owedPaise": 5_000 }])
    );
    assert_eq!(
        home.body["lateCash"],
        json!([{ "businessId": business, "name": name, "orders": 2, "amountPaise": 900, "dueSince": AT }]),
    );
    assert_eq!(home.body["openDiscrepancies"], 15);
    assert_eq!((&home.body["attention"], &home.body["incomplete"]), (&counts, &json!([])));

    portal.peers.fail("wallet");
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let home = viewer.get(OPERATOR_HOME).await;
    assert_eq!(home.status, 200, "{home:?}");
    assert_eq!(home.body["incomplete"], json!(["wallet"]));
    assert_eq!((&home.body["lowBalances"], &home.body["approvals"]), (&Value::Null, &Value::Null));
    assert_eq!(home.body["failingEndpoints"].as_array().unwrap().len(), 1);
}
