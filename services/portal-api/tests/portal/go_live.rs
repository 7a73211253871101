//! Go-live: which facts unlock live orders, which services are asked, and what is announced.

use domain::{EventKind, Mode};
use events::Body;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::Answer;
use crate::portal::{Owner, Portal};
use crate::profile::complete_profile;

impl Portal {
    /// Does everything that is done through this service alone.
    async fn prepare(&self, owner: &mut Owner) {
        let all = json!({ "status": "active", "subscription": "active", "liveAccess": "active" });
        let path = format!("/v1/operator/businesses/{}", owner.business);
        assert_eq!(self.operator().patch(&path, all).await.status, 200);
        assert_eq!(owner.client.put("/v1/portal/pickup-profile", complete_profile()).await.status, 200);
    }

    async fn missing(&self, owner: &Owner) -> Value {
        self.ordering(&owner.business).await["missing"].clone()
    }
}

impl Owner {
    async fn ask_for_live_key(&mut self) -> Answer {
        self.client.post("/v1/portal/api-keys", json!({ "mode": "live", "name": "Shop" })).await
    }

    fn creates_keys(&self, portal: &Portal) {
        portal.peers.answer(
            format!("POST /key-management/internal/businesses/{}/api-keys", self.business),
            201,
            json!({
                "id": "key_01ARZ3NDEKTSV4RRFFQ69G5FAV", "mode": "live", "name": "Shop",
                "prefix": "sk_live_waybill_", "lastFour": "abcd", "createdAt": "2026-01-01T00:00:00Z",
                "lastUsedAt": null, "revokedAt": null, "expiresAt": null, "key": "sk_live_waybill_secret",
            }),
        );
    }
}

#[tokio::test]
async fn a_live_key_is_refused_with_every_open_item_until_the_last_is_done() {
    let portal = Portal::connected().await;
    let mut owner = portal.owner("owner@shop.example").await;
    owner.creates_keys(&portal);
    let refused = owner.ask_for_live_key().await;
    assert_eq!((refused.status, refused.code()), (403, "live_api_locked"));
    let all = json!([
        "successful_test_order",
        "business_active",
        "subscription_active",
        "live_access_active",
        "wallet_funded",
        "pickup_profile_complete",
    ]);
    assert_eq!(refused.body["missing"], all);
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.contains("Wallet is funded") && message.contains("Pickup profile is complete"),
        "{message}"
    );
    assert_eq!(portal.missing(&owner).await, all);

    portal.prepare(&mut owner).await;
    let refused = owner.ask_for_live_key().await;
    assert_eq!(refused.body["missing"], json!(["successful_test_order", "wallet_funded"]));
    let test_order = portal.envelope(&owner.business, Body::FirstTestOrder {});
    let funded = portal.envelope(&owner.business, Body::WalletFunded {});
    // Each comes twice, as the broker may do.
    portal.publish(&[test_order.clone(), funded.clone(), test_order, funded]).await;
    until("the lock opens", async || portal.missing(&owner).await == json!([])).await;

    let created = owner.ask_for_live_key().await;
    assert_eq!((created.status, created.body["key"].as_str()), (201, Some("sk_live_waybill_secret")));
    let context = portal.ordering(&owner.business).await;
    assert_eq!(context["pickup"]["contactName"], "Asha Rao");
}

#[tokio::test]
async fn a_test_key_needs_nothing() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    owner.creates_keys(&portal);
    let body = json!({ "mode": "test", "name": "Shop" });
    assert_eq!(owner.client.post("/v1/portal/api-keys", body.clone()).await.status, 201);
    let call = format!("POST /key-management/internal/businesses/{}/api-keys", owner.business);
    assert_eq!(portal.peers.asked(&call)[0].body, body);
}

#[tokio::test]
async fn a_business_that_just_completed_the_last_item_is_unlocked() {
    let portal = Portal::connected().await;
    let heard = portal.listen().await;
    let mut owner = portal.owner("owner@shop.example").await;
    owner.creates_keys(&portal);
    portal.prepare(&mut owner).await;
    // Both have happened, and no event of them has come yet.
    portal.peers.has_test_order(&owner.business);
    portal.peers.wallet(&owner.business, 100_000, true);
    assert_eq!(owner.ask_for_live_key().await.status, 201);
    // It is known from now on, without asking again.
    portal.peers.know_new_business(&owner.business);
    assert_eq!(portal.missing(&owner).await, json!([]));
    // Approval, profile, test order, funding.
    until("the others are told", async || heard.changes(&owner.business) == 4).await;
}

#[tokio::test]
async fn an_undecided_lock_is_503() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    owner.creates_keys(&portal);
    portal.peers.fail("wallet");
    let refused = owner.ask_for_live_key().await;
    assert_eq!(refused.status, 403, "other items are open in any case");
    portal.prepare(&mut owner).await;
    portal.peers.has_test_order(&owner.business);
    let undecided = owner.ask_for_live_key().await;
    assert_eq!(undecided.status, 503);
    assert_ne!(undecided.header("retry-after"), "");
    // A test order needs the pickup profile, and must not wait for a wallet.
    let context = portal.ordering(&owner.business).await;
    assert_eq!(context["missing"], json!(["wallet_funded"]));
    assert_eq!(context["pickup"]["city"], "Bengaluru");
}

#[tokio::test]
async fn only_changes_of_ordering_rules_are_announced() {
    let portal = Portal::connected().await;
    let heard = portal.listen().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let path = format!("/v1/operator/businesses/{}", owner.business);
    let mut operator = portal.operator();
    let mut told = 0;
    for change in [
        json!({ "status": "active" }),
        json!({ "subscription": "active" }),
        json!({ "liveAccess": "active" }),
        json!({ "status": "suspended" }),
    ] {
        assert_eq!(operator.patch(&path, change.clone()).await.status, 200);
        assert_eq!(operator.patch(&path, change).await.status, 200, "the same again changes nothing");
        told += 1;
        until("the change to be announced", async || heard.changes(&owner.business) >= told).await;
    }
    for _ in 0..2 {
        owner.client.put("/v1/portal/pickup-profile", complete_profile()).await;
    }
    owner.client.put("/v1/portal/subscription", json!({ "plan": "scale" })).await;
    told += 2;
    until("profile and plan are told", async || heard.changes(&owner.business) >= told).await;
    assert_eq!(heard.changes(&owner.business), told);
}

#[tokio::test]
async fn a_fact_of_one_business_opens_nothing_for_another() {
    let portal = Portal::connected().await;
    let mut first = portal.owner("first@shop.example").await;
    let mut second = portal.owner("second@shop.example").await;
    portal.prepare(&mut first).await;
    portal.prepare(&mut second).await;
    let unknown = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    // A live order is not a go-live fact; an unknown business does not block later events.
    portal
        .publish(&[
            portal.order_event(&second.business, Mode::Live, EventKind::OrderCreated, "live-1"),
            portal.envelope(unknown, Body::WalletFunded {}),
            portal.envelope(&first.business, Body::FirstTestOrder {}),
            portal.envelope(&first.business, Body::WalletFunded {}),
        ])
        .await;
    until("the first is unlocked", async || portal.missing(&first).await == json!([])).await;
    assert_eq!(portal.missing(&second).await, json!(["successful_test_order", "wallet_funded"]));
}

#[tokio::test]
async fn what_is_unknown_is_not_found_and_the_door_is_for_services_only() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("/internal/businesses/{}/ordering", owner.business);
    let mut stranger = crate::client::Client::new(portal.internal);
    assert_eq!(stranger.get(&path).await.code(), "internal_token_invalid");
    let mut public = portal.stranger().with_bearer("local-internal-token-of-the-local-stack");
    assert_eq!(public.get(&path).await.status, 404, "it is not on the public listener");
    let mut order_api = stranger.with_bearer("local-internal-token-of-the-local-stack");
    for id in ["biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        let unknown = order_api.get(&format!("/internal/businesses/{id}/ordering")).await;
        assert_eq!((unknown.status, unknown.code()), (404, "business_not_found"), "{id}");
    }
}
