//! The audit log.

use chrono::{NaiveDate, TimeDelta};
use domain::Paise;
use internal_api::orders::ReattemptView;
use serde_json::{Value, json};
use test_kit::until;

use crate::answers::{self, ORDER};
use crate::client::Client;
use crate::peers::{answer_of, at};
use crate::portal::Portal;
use crate::profile::complete_profile;

const AUDIT_LOG: &str = "/v1/portal/audit-log";

async fn lines(client: &mut Client, query: &str) -> Vec<Value> {
    let answer = client.get(&format!("{AUDIT_LOG}?limit=100{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].as_array().unwrap().clone()
}

async fn actions(client: &mut Client, query: &str) -> Vec<String> {
    lines(client, query).await.iter().map(|line| line["action"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_done_is_written_down_with_who_did_it_and_in_which_request() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.clock.advance(TimeDelta::seconds(1));
    let put = owner.client.put("/v1/portal/pickup-profile", complete_profile()).await;
    assert_eq!(put.status, 200);
    portal.clock.advance(TimeDelta::seconds(1));
    owner.client.put("/v1/portal/subscription", json!({ "plan": "growth" })).await;
    portal.clock.advance(TimeDelta::seconds(1));
    let path = format!("/v1/operator/businesses/{}", owner.business);
    portal.operator().patch(&path, json!({ "status": "active", "liveAccess": "active" })).await;

    let written = lines(&mut owner.client, "").await;
    let told: Vec<_> = written.iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(
        told,
        ["business.changed", "subscription.requested", "pickup_profile.changed", "account.created"]
    );
    assert_eq!(written[0]["actor"], json!({ "type": "operator" }));
    assert_eq!(written[0]["details"], json!({ "status": "active", "liveAccess": "active" }));
    assert_eq!(written[1]["details"], json!({ "plan": "growth" }));
    assert_eq!(written[2]["actor"]["email"], "owner@shop.example");
    assert_eq!(written[2]["requestId"], put.header("request-id"));
    assert_eq!(written[2]["target"]["id"], owner.business);
    let all = serde_json::to_string(&written).unwrap();
    assert!(!all.contains("MG Road") && !all.contains("+91"), "no address, no phone: {all}");
    let again = owner.client.put("/v1/portal/pickup-profile", complete_profile()).await;
    assert_eq!(again.status, 200);
    assert_eq!(lines(&mut owner.client, "").await.len(), 4, "what changes nothing is no act");
}

/// No values: the note, the phone and the address are personal data.
#[tokio::test]
async fn requests_about_failed_deliveries_name_the_day_the_code_and_the_fields() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut order = answers::order();
    order.reason_code = Some("wrong_address".to_owned());
    order.reattempt = Some(ReattemptView {
        on: NaiveDate::from_ymd_opt(2026, 1, 9),
        number: 2,
        note: Some("12 MG Road".to_owned()),
        fee_paise: Paise::ZERO,
        requested_at: at(),
        requested_by: None,
    });
    let again = json!({ "date": "2026-01-09", "reasonCode": "wrong_address" });
    for (call, body, details) in [
        ("reattempt", json!({ "date": "2026-01-09", "note": "12 MG Road" }), again),
        ("return", json!({}), json!({ "reasonCode": "wrong_address" })),
        (
            "delivery-details",
            json!({ "phone": "+919800000009", "delivery": null }),
            json!({ "fields": ["phone"] }),
        ),
    ] {
        let path = format!("orders/{ORDER}/{call}");
        let at_peer = format!("POST /order-api/internal/businesses/{}/{path}", owner.business);
        portal.peers.answer(at_peer, 200, answer_of(&order));
        portal.clock.advance(TimeDelta::seconds(1));
        let answer = owner.client.post(&format!("/v1/portal/{path}"), body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let entry = lines(&mut owner.client, "").await.remove(0);
        assert_eq!((&entry["details"], &entry["target"]["label"]), (&details, &json!("shop-1")), "{call}");
    }
    assert_eq!(lines(&mut owner.client, &format!("&orderId={ORDER}")).await.len(), 3);
    let other = "&orderId=ord_01ARZ3NDEKTSV4RRFFQ69G5FAW";
    assert_eq!(lines(&mut owner.client, other).await.len(), 0);
    let mut stranger = portal.owner("owner@other.example").await;
    assert_eq!(lines(&mut stranger.client, &format!("&orderId={ORDER}")).await.len(), 0);
    assert_eq!(
        stranger.client.get(&format!("{AUDIT_LOG}?orderId=shop-1")).await.invalid_fields(),
        ["orderId"]
    );
}

#[tokio::test]
async fn calls_to_other_services_are_written_down_once_they_have_succeeded() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let business = owner.business.clone();
    let keys = format!("/key-management/internal/businesses/{business}/api-keys");
    let secret = "sk_test_waybill_secret";
    portal.peers.answer(
        format!("POST {keys}"),
        201,
        json!({
            "id": "key_01ARZ3NDEKTSV4RRFFQ69G5FAV", "mode": "test", "name": "Shop", "prefix": "sk_test_waybill",
            "lastFour": "cret", "createdAt": "2026-01-01T00:00:00Z", "lastUsedAt": null, "revokedAt": null,
            "expiresAt": null, "key": secret,
        }),
    );
    let body = json!({ "mode": "test", "name": "Shop" });
    assert_eq!(owner.client.post("/v1/portal/api-keys", body.clone()).await.status, 201);
    portal.peers.answer(format!("POST {keys}"), 400, json!({ "code": "x", "message": "x" }));
    assert_eq!(owner.client.post("/v1/portal/api-keys", body).await.status, 400);

    let written = lines(&mut owner.client, "&action=api_key.created").await;
    assert_eq!(written.len(), 1, "a refused one is no act");
    assert_eq!(written[0]["target"]["id"], "key_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(written[0]["target"]["label"], "sk_test_waybill…cret");
    assert_eq!(written[0]["details"]["mode"], "test");
    assert!(!written[0].to_string().contains(secret));

    let top_ups = format!("POST /wallet/internal/wallets/{business}/top-ups");
    let top_up = json!({
        "id": "top_01ARZ3NDEKTSV4RRFFQ69G5FAV", "amountPaise": 100, "status": "succeeded",
        "provider": "sandbox", "balancePaise": 100, "createdAt": "2026-01-01T00:00:00Z",
    });
    for _ in 0..2 {
        portal.peers.answer(top_ups.clone(), 201, top_up.clone());
        let answer = owner.client.post("/v1/portal/wallet/top-ups", json!({ "amountPaise": 100 })).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let topped_up = lines(&mut owner.client, "&action=wallet.topped_up").await;
    assert_eq!(topped_up.len(), 1, "who repeats a call moves no money again: {topped_up:?}");

    let endpoint = "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let webhooks = format!("/webhook-dispatcher/internal/businesses/{business}/webhook-endpoints/{endpoint}");
    portal.peers.answer(format!("DELETE {webhooks}"), 204, Value::Null);
    let path = format!("/v1/portal/webhook-endpoints/{endpoint}");
    assert_eq!(owner.client.delete(&path).await.status, 204);
    assert_eq!(
        lines(&mut owner.client, "&action=webhook_endpoint.deleted").await[0]["target"]["id"],
        endpoint
    );
}

#[tokio::test]
async fn log_ins_that_failed_are_seen_by_the_account_that_was_tried() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let log_in = |email: &str, password: &str| json!({ "email": email, "password": password });
    let path = "/v1/portal/session";
    assert_eq!(portal.stranger().post(path, log_in("owner@shop.example", "wrong")).await.status, 401);
    assert_eq!(portal.stranger().post(path, log_in("nobody@shop.example", "wrong")).await.status, 401);
    let mut visitor = portal.stranger();
    assert_eq!(visitor.post(path, log_in("owner@shop.example", "correct horse")).await.status, 200);
    assert_eq!(visitor.delete(path).await.status, 204);
    until("the failure is written down", async || {
        !lines(&mut owner.client.clone(), "&action=session.failed").await.is_empty()
    })
    .await;
    let failed = lines(&mut owner.client, "&action=session.failed").await;
    assert_eq!((failed.len(), &failed[0]["actor"]["type"]), (1, &json!("system")));
    assert_eq!(actions(&mut owner.client, "&action=session.opened").await.len(), 1);
    assert_eq!(actions(&mut owner.client, "&action=session.closed").await.len(), 1);
}

#[tokio::test]
async fn lines_are_found_by_action_person_and_time() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.clock.advance(TimeDelta::hours(1));
    let middle = portal.clock.now();
    let mut developer = portal.member(&mut owner, "dev@shop.example", "developer").await;
    developer.put("/v1/portal/pickup-profile", complete_profile()).await;
    let me = developer.get("/v1/portal/session").await.body["userId"].as_str().unwrap().to_owned();

    let by_me = actions(&mut developer, &format!("&userId={me}")).await;
    assert_eq!(by_me.len(), 2, "{by_me:?}");
    let middle = middle.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let later = actions(&mut developer, &format!("&since={middle}")).await;
    assert_eq!(later.len(), 3, "{later:?}");
    assert_eq!(actions(&mut developer, &format!("&until={middle}")).await, ["account.created"]);
    let page = developer.get(&format!("{AUDIT_LOG}?limit=2")).await;
    assert_eq!(page.body["hasMore"], true);
    let last = page.body["data"][1]["id"].as_str().unwrap();
    assert_eq!(lines(&mut developer, &format!("&startingAfter={last}")).await.len(), 2);

    let refused = developer
        .get(&format!("{AUDIT_LOG}?action=nothing.done&userId=x&since=today&until=1&limit=0&page=2"))
        .await;
    assert_eq!(refused.invalid_fields(), ["action", "limit", "page", "since", "until", "userId"]);
    let backwards = developer.get(&format!("{AUDIT_LOG}?since={middle}&until={middle}")).await;
    assert_eq!(backwards.invalid_fields(), ["since"]);
    let path = format!("/v1/operator/businesses/{}/audit-log?action=user.joined", owner.business);
    assert_eq!(portal.operator().get(&path).await.body["data"].as_array().unwrap().len(), 1);
    let nobody = "/v1/operator/businesses/biz_01ARZ3NDEKTSV4RRFFQ69G5FAV/audit-log";
    assert_eq!(portal.operator().get(nobody).await.code(), "business_not_found");
}
