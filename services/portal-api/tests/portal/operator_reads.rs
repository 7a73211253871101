//! What the operator's log has of reads and of refused calls: the ids, and neither the text of a search nor the path.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::answers::statement_totals;
use crate::client::Client;
use crate::office::{APPROVALS, BUSINESSES, Office};
use crate::peers::answer_of;
use crate::portal::Portal;
use crate::staff::{STAFF, person};

const ORDERS: &str = "/v1/operator/orders";
const NOBODY: &str = "stf_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const OTHER: &str = "stf_01ARZ3NDEKTSV4RRFFQ69G5FAW";
const USER: &str = "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The entries of an action, newest first.
async fn entries(portal: &Portal, action: &str) -> Vec<Value> {
    let path = format!("/v1/operator/audit-log?limit=100&action={action}");
    let answer = portal.operator().get(&path).await;
    answer.body["data"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone()
}

async fn details(portal: &Portal, action: &str) -> Vec<Value> {
    entries(portal, action).await.iter().map(|entry| entry["details"].clone()).collect()
}

/// Reads twice, as a page that refreshes itself.
async fn read(client: &mut Client, path: &str) {
    for _ in 0..2 {
        let answer = client.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn another_page_is_another_entry_with_its_ids() {
    let portal = Portal::start().await;
    let mut first = portal.owner("owner@shop.example").await;
    portal.member(&mut first, "dev@shop.example", "developer").await;
    let second = portal.owner("owner@other.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    read(&mut asha, &format!("{BUSINESSES}?limit=1")).await;
    portal.clock.advance(TimeDelta::milliseconds(1));
    read(&mut asha, &format!("{BUSINESSES}?limit=1&startingAfter={second}")).await;
    let expected = [json!({ "businesses": [first.business] }), json!({ "businesses": [second] })];
    assert_eq!(details(&portal, "businesses.read").await, expected);

    let users = format!("{BUSINESSES}/{}/users?limit=1", first.business);
    read(&mut asha, &users).await;
    let owner = asha.get(&users).await.body["data"][0]["id"].clone();
    portal.clock.advance(TimeDelta::milliseconds(1));
    read(&mut asha, &format!("{users}&startingAfter={}", owner.as_str().unwrap())).await;
    let found = details(&portal, "users.read").await;
    assert_eq!((found.len(), &found[1]), (2, &json!({ "users": [owner] })), "{found:?}");

    let log = format!("{BUSINESSES}/{}/audit-log?limit=1", first.business);
    read(&mut asha, &log).await;
    let entry = asha.get(&log).await.body["data"][0]["id"].clone();
    assert_eq!(details(&portal, "audit_log.read").await, [json!({ "entries": [entry] })]);
}

#[tokio::test]
async fn the_orders_of_a_business_are_listed_and_logged_and_its_money_is_listed() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    let orders = format!("GET /order-api/internal/businesses/{business}/orders");
    portal.peers.answer(orders.as_str(), 200, json!({ "data": [], "hasMore": false }));
    let cash = json!({
        "totals": {
            "outstandingPaise": 0, "pendingPaise": 0, "withDriversPaise": 0, "handedOverShortPaise": 0,
            "withOperatorPaise": 0,
            "settledRecentlyPaise": 0, "latePaise": 0, "lateOrders": 0, "discrepancies": 0, "ages": [],
        },
        "data": [], "hasMore": false,
    });
    portal.peers.answer(format!("GET /wallet/internal/wallets/{business}/cash"), 200, cash.clone());
    read(&mut asha, &format!("{BUSINESSES}/{business}/orders?mode=live&status=failed")).await;
    assert_eq!(portal.peers.asked(&orders)[0].query, "limit=20&mode=live&status=failed");
    let logged = entries(&portal, "orders.read").await;
    assert_eq!((logged.len(), &logged[0]["businessId"]), (1, &json!(business)));
    let read = asha.get(&format!("{BUSINESSES}/{business}/cod?status=settled")).await;
    assert_eq!((read.status, read.body), (200, cash));
    let totals = format!("GET /wallet/internal/wallets/{business}/entries/totals");
    let sums = answer_of(&statement_totals());
    portal.peers.answer(totals.as_str(), 200, sums.clone());
    let read =
        asha.get(&format!("{BUSINESSES}/{business}/wallet/entries/totals?since=s&until=u&kind=refund")).await;
    assert_eq!((read.status, read.body), (200, sums));
    assert_eq!(portal.peers.asked(&totals)[0].query, "kind=refund&since=s&until=u");
    for rest in ["orders", "cod", "wallet/entries/totals"] {
        let unknown = asha.get(&format!("{BUSINESSES}/biz_01ARZ3NDEKTSV4RRFFQ69G5FAV/{rest}")).await;
        assert_eq!((unknown.status, unknown.code()), (404, "business_not_found"));
        let refused = asha.get(&format!("{BUSINESSES}/{business}/{rest}?colour=red")).await;
        assert_eq!(refused.status, 400);
    }
}

#[tokio::test]
async fn the_list_shows_balances_and_orders_with_one_question_to_each_service() {
    let portal = Portal::start().await;
    let first = portal.owner("owner@shop.example").await.business;
    portal.clock.advance(TimeDelta::milliseconds(1));
    let second = portal.owner("owner@other.example").await.business;
    let balances = "POST /wallet/internal/balances";
    let activity = "POST /order-api/internal/orders/activity";
    portal.peers.answer(balances, 200, json!([{ "businessId": first, "balancePaise": 700 }]));
    let at = "2026-01-01T00:00:00Z";
    let of_orders = json!([
        { "businessId": first, "recent": 12, "lastAt": at },
        { "businessId": second, "recent": 0, "lastAt": null },
    ]);
    portal.peers.answer(activity, 200, of_orders);
    let shown = |business: &Value| {
        (business["balancePaise"].clone(), business["recentOrders"].clone(), business["lastOrderAt"].clone())
    };
    let listed = portal.operator().get(BUSINESSES).await.body["data"].clone();
    assert_eq!(shown(&listed[0]), (json!(0), json!(0), Value::Null), "it never paid in");
    assert_eq!(shown(&listed[1]), (json!(700), json!(12), json!(at)));
    assert_eq!(portal.peers.asked(balances).len(), 1);
    assert_eq!(portal.peers.asked(activity)[0].body, json!({ "ids": [second, first] }));

    portal.peers.fail("wallet");
    let listed = portal.operator().get(BUSINESSES).await;
    assert_eq!(listed.status, 200);
    assert_eq!(shown(&listed.body["data"][1]), (Value::Null, json!(12), json!(at)));
}

#[tokio::test]
async fn another_search_is_another_entry_without_its_text() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    let nothing = json!({ "data": [], "hasMore": false });
    portal.peers.answer("GET /order-api/internal/orders/search", 200, nothing);
    let searches = ["owner@shop.example", "nobody@shop.example", "%2B919812345678", "Asha%20Rao"];
    for search in searches {
        read(&mut asha, &format!("{BUSINESSES}?search={search}")).await;
        read(&mut asha, &format!("{ORDERS}?search={search}")).await;
    }
    for (action, ids) in [("businesses.read", "businesses"), ("orders.read", "orders")] {
        let found = details(&portal, action).await;
        assert_eq!(found.len(), searches.len(), "{action}: {found:?}");
        let mut digests: Vec<_> = found.iter().map(|one| one["search"].as_str().unwrap()).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), searches.len(), "{action}: {found:?}");
        assert!(found.iter().all(|one| one[ids].is_array()), "{action}: {found:?}");
    }
    let read = details(&portal, "businesses.read").await;
    assert!(read.iter().any(|one| one["businesses"] == json!([business])), "{read:?}");
    let all = Value::from(entries(&portal, "businesses.read").await).to_string()
        + &Value::from(entries(&portal, "orders.read").await).to_string();
    for text in ["@shop.example", "9812345678", "Asha Rao"] {
        assert!(!all.contains(text), "{text}: {all}");
    }
}

#[tokio::test]
async fn a_search_that_fails_is_an_entry_without_its_text() {
    let portal = Portal::start().await;
    let (mut asha, _) = person(&portal, "asha@carrier.example", "support").await;
    portal.peers.fail("order-api");
    for _ in 0..2 {
        let failed = asha.get(&format!("{ORDERS}?search=%2B919812345678")).await;
        assert!(failed.status >= 500, "{failed:?}");
    }
    let found = details(&portal, "orders.read").await;
    let digest = found[0]["search"].as_str().unwrap();
    assert_eq!(found, [json!({ "orders": [], "search": digest, "failed": true })]);
    assert!(!digest.contains("9812345678"));
    // Nothing was searched.
    assert_eq!(asha.get(ORDERS).await.status, 400);
    let unknown = asha.get(&format!("{ORDERS}/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/events")).await;
    assert!(unknown.status >= 500, "{unknown:?}");
    assert_eq!(details(&portal, "orders.read").await.len(), 1);
    assert!(entries(&portal, "order_timeline.read").await.is_empty());
}

#[tokio::test]
async fn each_refused_call_is_an_entry_with_the_ids_of_its_path() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let of_user = format!("{BUSINESSES}/{business}/users/{USER}/second-factor");
    for path in [&format!("{STAFF}/{NOBODY}"), &format!("{STAFF}/{OTHER}"), &of_user] {
        for _ in 0..3 {
            assert_eq!(viewer.delete(path).await.code(), "permission_missing", "{path}");
        }
    }
    // What is no id may be anything.
    let personal = format!("{STAFF}/asha@home.example/password-link");
    assert_eq!(viewer.press(&personal).await.code(), "permission_missing");
    assert_eq!(viewer.get(&format!("{ORDERS}?code=%2B919812345678")).await.code(), "permission_missing");
    let refused = entries(&portal, "access.refused").await;
    let of = |call: &str| {
        let calls = refused.iter().filter(|entry| entry["details"]["call"] == call);
        calls.map(|entry| entry["details"]["ids"].clone()).collect::<Vec<_>>()
    };
    let mut staff = of("DELETE /v1/operator/staff/{id}");
    staff.sort_by_key(Value::to_string);
    assert_eq!(staff, [json!([NOBODY]), json!([OTHER])]);
    let reset = of("DELETE /v1/operator/businesses/{id}/users/{user}/second-factor");
    assert_eq!(reset, [json!([business, USER])]);
    assert_eq!(of("POST /v1/operator/staff/{id}/password-link"), [Value::Null]);
    assert_eq!(of("GET /v1/operator/orders"), [Value::Null]);
    let all = Value::from(refused.clone()).to_string();
    assert!(!all.contains("home.example") && !all.contains("9812345678"), "{all}");

    portal.clock.advance(TimeDelta::minutes(1) + TimeDelta::milliseconds(1));
    assert_eq!(viewer.delete(&of_user).await.status, 403);
    assert_eq!(entries(&portal, "access.refused").await.len(), refused.len() + 1, "a minute later");
}

/// Otherwise one person could fill the log.
#[tokio::test]
async fn a_person_has_a_hundred_entries_of_refused_calls_in_a_minute() {
    let portal = Portal::start().await;
    let (mut viewer, _) = person(&portal, "viewer@carrier.example", "viewer").await;
    let (mut finance, _) = person(&portal, "finance@carrier.example", "finance").await;
    let staff = |number: usize| format!("{STAFF}/stf_01ARZ3NDEKTSV4RRFFQ69G{number:04}");
    let of_viewer = async || {
        let all = entries(&portal, "access.refused").await;
        all.iter().filter(|entry| entry["actor"]["name"] == "viewer@carrier.example").count()
    };
    for number in 0..101 {
        assert_eq!(viewer.delete(&staff(number)).await.status, 403);
    }
    assert_eq!(of_viewer().await, 100);
    // The list shows the newest hundred; those of one moment have no order among them.
    portal.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(finance.delete(&staff(0)).await.status, 403);
    let newest = entries(&portal, "access.refused").await;
    assert!(newest.iter().any(|entry| entry["actor"]["name"] == "finance@carrier.example"));
    portal.clock.advance(TimeDelta::minutes(1) + TimeDelta::milliseconds(1));
    assert_eq!(viewer.delete(&staff(101)).await.status, 403);
    assert_eq!(
        entries(&portal, "access.refused").await[0]["details"]["ids"],
        json!([staff(101)[STAFF.len() + 1..]])
    );
}

/// The permission depends on the request for approval.
#[tokio::test]
async fn a_refused_approval_is_an_entry_too() {
    let mut office = Office::open().await;
    let credit = office.requested_credit().await;
    let (mut support, _) = person(&office.portal, "support@carrier.example", "support").await;
    let read = support.get(&format!("{APPROVALS}/{credit}")).await;
    assert_eq!((read.status, read.code()), (403, "permission_missing"), "{read:?}");
    let approved = support.post(&format!("{APPROVALS}/{credit}/approve"), json!({})).await;
    assert_eq!((approved.status, approved.code()), (403, "permission_missing"), "{approved:?}");
    let mut refused = details(&office.portal, "access.refused").await;
    refused.sort_by_key(Value::to_string);
    let entry = |call: &str| json!({ "permission": "credit_wallets", "call": call, "ids": [credit] });
    let expected =
        [entry("GET /v1/operator/approvals/{id}"), entry("POST /v1/operator/approvals/{id}/approve")];
    assert_eq!(refused, expected);
}
