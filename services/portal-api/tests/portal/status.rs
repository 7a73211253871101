//! The overview: seven indicators and the go-live checklist.

use futures_util::future::join_all;
use internal_api::webhooks::{ConnectionTest, EndpointStatus};
use serde_json::{Value, json};

use crate::portal::Portal;
use crate::profile::complete_profile;

const STATUS: &str = "/v1/portal/status";

fn labels(status: &Value) -> Vec<(String, String)> {
    let indicators = status["indicators"].as_object().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    indicators.iter().map(|(name, shown)| (name.clone(), text(&shown["label"]))).collect()
}

#[tokio::test]
async fn a_new_business_sees_the_initial_labels_of_the_specification() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let status = owner.client.get(STATUS).await;
    assert_eq!(status.status, 200, "{status:?}");
    let item = |code: &str, label: &str| json!({ "code": code, "label": label, "done": false, "at": null });
    let advice = |code: &str, label: &str| json!({ "code": code, "label": label, "done": false, "at": null, "requestIds": [] });
    assert_eq!(
        status.body,
        json!({
            "incomplete": [],
            "indicators": {
                "testApi": { "code": "not_created", "label": "Not created" },
                "liveApi": { "code": "locked", "label": "Locked" },
                "connectionTest": { "code": "no_test_orders_yet", "label": "No test orders yet" },
                "webhook": { "code": "not_configured", "label": "Not configured" },
                "webhookConnectionTest": { "code": "not_tested", "label": "Not tested" },
                "wallet": { "code": "not_available", "label": "Not available" },
                "subscription": { "code": "required", "label": "Required" },
            },
            "goLive": {
                "unlocked": false,
                "items": [
                    item("successful_test_order", "At least one successful test order received"),
                    item("business_active", "Business is active"),
                    item("subscription_active", "Subscription is active"),
                    item("live_access_active", "Live access is active"),
                    item("wallet_funded", "Wallet is funded"),
                    item("pickup_profile_complete", "Pickup profile is complete"),
                ],
            },
            "closing": false,
            "advice": [
                advice(
                    "duplicate_retry_tested",
                    "A duplicate request was sent, and answered with the first one's order",
                ),
                advice(
                    "failure_retry_tested",
                    "A failed request was retried with the same Idempotency-Key, and succeeded",
                ),
                advice(
                    "webhook_verified",
                    "A webhook endpoint took a signed test and refused one with a wrong signature",
                ),
            ],
        })
    );
}

#[tokio::test]
async fn the_indicators_follow_the_reports() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let business = owner.business.clone();
    let path = format!("/v1/operator/businesses/{business}");
    owner.client.put("/v1/portal/subscription", json!({ "plan": "starter" })).await;
    portal.peers.keys(&business, true, false);
    portal.peers.has_test_order(&business);
    portal.peers.webhooks(&business, Some(EndpointStatus::Failing), ConnectionTest::Failed);
    portal.peers.wallet(&business, 10_000, true);
    let status = owner.client.get(STATUS).await.body;
    let expected = [
        ("connectionTest", "Connected"),
        ("liveApi", "Locked"),
        ("subscription", "Requested"),
        ("testApi", "Active"),
        ("wallet", "Low balance"),
        ("webhook", "Failing"),
        ("webhookConnectionTest", "Failed"),
    ];
    let mut shown = labels(&status);
    shown.sort();
    assert_eq!(shown, expected.map(|(name, label)| (name.to_owned(), label.to_owned())));
    assert_eq!(status["indicators"]["wallet"]["code"], "low_balance");

    owner.client.put("/v1/portal/pickup-profile", complete_profile()).await;
    let all = json!({ "status": "active", "subscription": "active", "liveAccess": "active" });
    portal.operator().patch(&path, all).await;
    let status = owner.client.get(STATUS).await.body;
    assert_eq!(status["goLive"]["unlocked"], true);
    assert_eq!(status["indicators"]["liveApi"]["label"], "Ready");
    portal.peers.keys(&business, true, true);
    assert_eq!(owner.client.get(STATUS).await.body["indicators"]["liveApi"]["label"], "Active");

    portal.operator().patch(&path, json!({ "status": "suspended" })).await;
    let status = owner.client.get(STATUS).await.body;
    assert_eq!(status["indicators"]["liveApi"]["label"], "Locked");
    assert_eq!(status["goLive"]["items"][1]["done"], false);
}

#[tokio::test]
async fn a_peer_that_does_not_answer_makes_its_values_unknown() {
    // At once, because each waits for a time limit.
    let cases = [
        ("key-management", ["liveApi", "testApi"].as_slice()),
        ("webhook-dispatcher", &["webhook", "webhookConnectionTest"]),
        ("wallet", &["wallet"]),
        ("order-api", &[]),
    ];
    join_all(cases.map(async |(peer, unknown)| {
        let portal = Portal::start().await;
        let mut owner = portal.owner("owner@shop.example").await;
        portal.peers.silence(peer);
        let status = owner.client.get(STATUS).await;
        assert_eq!(status.status, 200, "{peer}: {status:?}");
        let shown = status.body["indicators"].as_object().unwrap();
        let mut without: Vec<_> = shown
            .iter()
            .filter(|(_, label)| label["code"] == "unknown")
            .map(|(name, _)| name.as_str())
            .collect();
        without.sort_unstable();
        assert_eq!(without, unknown, "{peer}");
        let silent = if unknown.is_empty() { json!([]) } else { json!([peer]) };
        assert_eq!(status.body["incomplete"], silent, "no indicator is order-api's to give");
    }))
    .await;
}

#[tokio::test]
async fn completed_items_have_a_time() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let path = format!("/v1/operator/businesses/{}", owner.business);
    let at = async |owner: &mut crate::portal::Owner, item: usize| {
        owner.client.get(STATUS).await.body["goLive"]["items"][item]["at"].clone()
    };
    portal.operator().patch(&path, json!({ "status": "active" })).await;
    let since = at(&mut owner, 1).await;
    assert!(since.is_string(), "{since}");
    portal.clock.advance(chrono::TimeDelta::minutes(5));
    portal.operator().patch(&path, json!({ "status": "active", "liveAccess": "active" })).await;
    assert_eq!(at(&mut owner, 1).await, since, "it was active already");
    assert_ne!(at(&mut owner, 3).await, since);
    portal.operator().patch(&path, json!({ "status": "suspended" })).await;
    assert_eq!(at(&mut owner, 1).await, json!(null));
    portal.operator().patch(&path, json!({ "status": "active" })).await;
    assert_ne!(at(&mut owner, 1).await, since, "anew");
    owner.client.put("/v1/portal/pickup-profile", complete_profile()).await;
    portal.peers.wallet(&owner.business, 10_000, true);
    assert!(at(&mut owner, 5).await.is_string());
    assert_eq!(at(&mut owner, 4).await, "2026-01-01T00:00:00Z", "as the wallet says");
}

#[tokio::test]
async fn advice_is_proved_by_what_its_owners_saw() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let business = owner.business.clone();
    let (first, second) = ("req_01ARZ3NDEKTSV4RRFFQ69G5FAV", "req_01ARZ3NDEKTSV4RRFFQ69G5FAW");
    portal.peers.answer(
        format!("GET /order-api/internal/businesses/{business}/retry-evidence"),
        200,
        json!({
            "duplicate": { "at": "2026-01-02T00:00:00Z", "requestIds": [first, second] },
            "failure": null,
        }),
    );
    let (test, forged) = ("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAW");
    portal.peers.answer(
        format!("GET /webhook-dispatcher/internal/businesses/{business}/webhooks/summary"),
        200,
        json!({
            "status": "active", "connectionTest": "passed",
            "verified": { "at": "2026-01-03T00:00:00Z", "testEventId": test, "forgedEventId": forged },
        }),
    );
    let status = owner.client.get(STATUS).await.body;
    let advice = &status["advice"];
    assert_eq!(advice[0]["done"], true);
    assert_eq!(advice[0]["at"], "2026-01-02T00:00:00Z");
    assert_eq!(advice[0]["requestIds"], json!([first, second]));
    assert_eq!((&advice[1]["done"], &advice[1]["requestIds"]), (&json!(false), &json!([])));
    assert_eq!((&advice[2]["done"], &advice[2]["requestIds"]), (&json!(true), &json!([test, forged])));
    assert_eq!(status["goLive"]["unlocked"], false, "advice opens nothing");

    portal.peers.fail("order-api");
    let status = owner.client.get(STATUS).await;
    assert_eq!((status.status, &status.body["advice"][0]["done"]), (200, &json!(false)));
}
