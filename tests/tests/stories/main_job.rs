//! The story of SPECIFICATION §1 through the public APIs: from sign-up to delivered, settled, cancelled and failed
//! orders.

use anyhow::Context;
use demo::clients::{COD_DELIVERY, Fleet};
use demo::{SAMPLE_CASH_PAISE, eventually, sample_order, sample_prepaid_order};
use domain::DEFAULT_SUBSCRIPTION;
use futures_util::StreamExt;
use local_stack::Stack;
use serde_json::json;
use std::collections::BTreeSet;
use waybill_tests::{Business, PATIENCE, assert_in_order, kinds, pickup_profile, wait_until_quiet};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn a_business_signs_up_goes_live_and_ships() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    a_new_business_sees_the_first_labels(&business).await?;
    a_test_order_shows_in_the_portal_and_touches_no_money(&business).await?;
    the_live_api_opens_automatically(&mut business).await?;
    let delivered = a_cod_order_is_delivered_and_settled(&business).await?;
    a_cancelled_order_is_refunded(&business).await?;
    a_failed_order_is_refunded_only_before_the_pickup(&business).await?;
    all_ten_kinds_were_received(&business).await?;
    a_low_balance_is_402_until_the_wallet_is_topped_up(&business).await?;
    a_failed_webhook_is_retried_and_logged(&business).await?;
    one_trace_leads_from_the_request_to_the_webhook(&business).await?;
    the_portal_shows_the_whole_job(&business, &delivered).await?;
    wait_until_quiet(&stack).await?;
    stack.shut_down().await
}

async fn a_new_business_sees_the_first_labels(business: &Business) -> anyhow::Result<()> {
    let status = business.portal.get("/status").await?;
    let label = |name: &str| status["indicators"][name]["label"].as_str().unwrap_or_default().to_owned();
    // The Test key and the endpoint exist; the tests of portal-api check the earlier labels of SPECIFICATION §3.1.
    assert_eq!(label("testApi"), "Active");
    assert_eq!(label("liveApi"), "Locked");
    assert_eq!(label("connectionTest"), "No test orders yet");
    assert_eq!(label("webhookConnectionTest"), "Not tested");
    assert_eq!(label("wallet"), "Not available");
    assert_eq!(label("subscription"), "Required");
    assert_eq!(status["goLive"]["unlocked"], false);
    Ok(())
}

async fn a_test_order_shows_in_the_portal_and_touches_no_money(business: &Business) -> anyhow::Result<()> {
    let mut stream = business.portal.orders_stream("test").await?.bytes_stream();
    let order = business.place(&sample_order("order-1001")).await?;

    let mut seen = String::new();
    let arrived = async {
        while let Some(chunk) = stream.next().await {
            seen.push_str(&String::from_utf8_lossy(&chunk?));
            if seen.contains("order-1001") {
                return anyhow::Ok(());
            }
        }
        anyhow::bail!("the stream ended: {seen}")
    };
    tokio::time::timeout(PATIENCE, arrived).await??;

    let page = business.portal.get("/orders?mode=test").await?;
    assert_eq!(page["data"][0]["id"], json!(order));
    assert!(page["data"][0]["trackingCode"].as_str().unwrap_or_default().starts_with("TEST-"));
    assert_eq!(page["data"][0]["driver"], json!(null));
    assert_eq!(business.portal.get("/wallet/entries").await?["data"], json!([]));
    assert_eq!(
        business.fleet.send(&order, &json!({})).await?.status,
        400,
        "the report itself is validated first"
    );
    assert_eq!(
        business.fleet.report(&order, "driver.assigned", 0).await?.status,
        404,
        "no driver for a test order"
    );
    let hooks = business.webhooks_of("order-1001", 1).await?;
    assert_eq!(kinds(&hooks), ["order.created"]);
    assert_eq!(hooks[0].event.mode, "test");
    Ok(())
}

async fn the_live_api_opens_automatically(business: &mut Business) -> anyhow::Result<()> {
    let locked = business.portal.post("/api-keys", &json!({ "mode": "live", "name": "too early" })).await?;
    assert_eq!((locked.status.as_u16(), locked.code()), (403, "live_api_locked"));
    assert_eq!(
        locked.body["missing"],
        json!([
            "business_active",
            "subscription_active",
            "live_access_active",
            "wallet_funded",
            "pickup_profile_complete"
        ]),
        "the test order was counted"
    );
    business.portal.put("/pickup-profile", &pickup_profile()).await?;
    business.go_live(100_000).await?;
    let status = business.portal.get("/status").await?;
    assert_eq!(status["goLive"]["unlocked"], true);
    assert_eq!(status["indicators"]["liveApi"]["label"], "Active");
    assert_eq!(status["indicators"]["wallet"]["label"], "Funded");
    Ok(())
}

async fn a_cod_order_is_delivered_and_settled(business: &Business) -> anyhow::Result<String> {
    let before = business.balance().await?;
    let cod = SAMPLE_CASH_PAISE;
    let order = business.place(&sample_order("order-2001")).await?;
    assert_eq!(business.balance().await?, before - FEE);

    business.fleet.drive(&order, &COD_DELIVERY[..3], cod).await?;
    let mut delivered = Fleet::progress(&order, "order.delivered", cod);
    let live = business.live()?;
    let code =
        live.call(reqwest::Method::POST, &format!("/{order}/delivery-code"), None).await?.expect(200)?;
    delivered["evidence"] = json!({ "recipientRelation": "customer", "deliveryCode": code["deliveryCode"] });
    business.fleet.send(&order, &delivered).await?.expect(200)?;
    business.fleet.drive(&order, &COD_DELIVERY[4..], cod).await?;
    // A repeated report changes nothing; an illegal one is refused with the legal events.
    business.fleet.send(&order, &delivered).await?.expect(200)?;
    let again =
        json!({ "eventId": "other", "event": "order.delivered", "occurredAt": "2026-01-31T10:00:00Z" });
    let refused = business.fleet.send(&order, &again).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "illegal_transition"));
    assert_eq!(refused.body["legal"], json!([]));

    let hooks = business.webhooks_of("order-2001", 8).await?;
    assert_in_order(&hooks);
    assert_eq!(kinds(&hooks)[0], "order.created");
    assert_eq!(kinds(&hooks)[1..], COD_DELIVERY);
    let evidence = business.portal.get(&format!("/orders/{order}/evidence")).await?;
    let carried =
        &hooks.iter().find(|hook| hook.event.event == "order.delivered").context("the webhook")?.event;
    assert_eq!(carried.data["evidence"]["hash"], evidence["attempts"][0]["hash"]);
    assert_eq!(
        (&carried.data["evidence"]["codeVerified"], &evidence["intact"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(business.entries_of(&order).await?, [("delivery_fee".to_owned(), -FEE)]);

    let view = business.live()?.call(reqwest::Method::GET, &format!("/{order}"), None).await?.expect(200)?;
    assert_eq!((&view["status"], &view["codStatus"]), (&json!("delivered"), &json!("settled")));
    Ok(order)
}

async fn a_cancelled_order_is_refunded(business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let order = business.place(&sample_prepaid_order("order-2002")).await?;
    business.fleet.report(&order, "driver.assigned", 0).await?.expect(200)?;
    let cancel = format!("/{order}/cancel");
    let live = business.live()?;
    let first = live.call(reqwest::Method::POST, &cancel, None).await?;
    let again = live.call(reqwest::Method::POST, &cancel, None).await?;
    assert_eq!((first.status, &first.text), (again.status, &again.text));
    assert_eq!(first.expect(200)?["status"], "cancelled");

    eventually("the refund", PATIENCE, || async { Ok((business.balance().await? == before).then_some(())) })
        .await?;
    let mut entries = business.entries_of(&order).await?;
    entries.sort();
    assert_eq!(entries, [("delivery_fee".to_owned(), -FEE), ("refund".to_owned(), FEE)]);
    let hooks = business.webhooks_of("order-2002", 3).await?;
    assert_eq!(kinds(&hooks), ["order.created", "driver.assigned", "order.cancelled"]);
    Ok(())
}

async fn a_failed_order_is_refunded_only_before_the_pickup(business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let late = business.place(&sample_prepaid_order("order-2003")).await?;
    business.fleet.drive(&late, &["driver.assigned", "order.picked_up", "order.failed"], 0).await?;
    let early = business.place(&sample_prepaid_order("order-2004")).await?;
    business.fleet.drive(&early, &["order.failed"], 0).await?;
    eventually("the refund of the order that was never picked up", PATIENCE, || async {
        Ok((business.entries_of(&early).await?.len() == 2).then_some(()))
    })
    .await?;
    assert_eq!(business.balance().await?, before - FEE, "only the one before the pickup is refunded");
    assert_eq!(business.entries_of(&late).await?.len(), 1);

    let not_any_more = business.live()?.call(reqwest::Method::POST, &format!("/{late}/cancel"), None).await?;
    assert_eq!((not_any_more.status.as_u16(), not_any_more.code()), (409, "order_not_cancellable"));
    let hooks = business.webhooks_of("order-2003", 4).await?;
    assert_in_order(&hooks);
    Ok(())
}

async fn all_ten_kinds_were_received(business: &Business) -> anyhow::Result<()> {
    let received = business.inbox.received(|_| true);
    let kinds: BTreeSet<&str> = received.iter().map(|webhook| webhook.event.event.as_str()).collect();
    let wanted: BTreeSet<&str> = DEFAULT_SUBSCRIPTION.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(kinds, wanted);
    Ok(())
}

async fn a_low_balance_is_402_until_the_wallet_is_topped_up(business: &Business) -> anyhow::Result<()> {
    let mut body = waybill_tests::smallest_order("order-2005");
    let balance = business.balance().await?;
    body["payment"]["deliveryFeePaise"] = json!(balance + 1_000);
    let live = business.live()?;
    let refused = live.create("shop-2005", &body).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (402, "insufficient_wallet_balance"));
    assert_eq!(refused.body["shortfallPaise"], 1_000);
    assert_eq!(business.balance().await?, balance);

    business.top_up(20_000).await?;
    let placed = live.create("shop-2005", &body).await?;
    let replayed = live.create("shop-2005", &body).await?;
    assert_eq!((placed.status.as_u16(), &placed.text), (201, &replayed.text));
    assert_eq!(replayed.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(business.balance().await?, 19_000, "the fee was taken once");
    Ok(())
}

async fn a_failed_webhook_is_retried_and_logged(business: &Business) -> anyhow::Result<()> {
    business.inbox.fail_next();
    let order = business.place(&sample_prepaid_order("order-2006")).await?;
    business.fleet.report(&order, "driver.assigned", 0).await?.expect(200)?;
    let hooks = business.webhooks_of("order-2006", 2).await?;
    assert_in_order(&hooks);

    let path = format!("/webhook-endpoints/{}/deliveries?limit=100", business.endpoint_id);
    let retried = eventually("the retry in the log", PATIENCE, || async {
        let log = business.portal.get(&path).await?;
        let rows = log["data"].as_array().cloned().unwrap_or_default();
        Ok(rows.into_iter().find(|row| row["attempts"] == 2 && row["status"] == "succeeded"))
    })
    .await?;
    assert_eq!(retried["event"], "order.created", "the later event waited for it");
    let id = waybill_tests::text(&retried, "id")?;
    let details = business.portal.get(&format!("/webhook-deliveries/{id}")).await?;
    let statuses: Vec<_> = details["attemptLog"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|attempt| &attempt["responseStatus"])
        .collect();
    assert_eq!(statuses, [&json!(500), &json!(200)]);
    Ok(())
}

async fn one_trace_leads_from_the_request_to_the_webhook(business: &Business) -> anyhow::Result<()> {
    let api = business.live()?.api;
    for (reference, trace) in [
        ("order-2007", "0af7651916cd43dd8448eb211c80319c"),
        ("order-2008", "4bf92f3577b34da6a3ce929d0e0e4736"),
    ] {
        let request = api
            .request(reqwest::Method::POST, "/integration/orders")
            .bearer_auth(business.live_key.as_deref().unwrap_or_default())
            .header("Idempotency-Key", reference)
            .header("traceparent", format!("00-{trace}-b7ad6b7169203331-01"))
            .json(&waybill_tests::smallest_order(reference));
        api.send(request).await?.expect(201)?;
        let path = format!("/webhook-endpoints/{}/deliveries?limit=1", business.endpoint_id);
        let sent = eventually("the webhook's request headers", PATIENCE, || async {
            let log = business.portal.get(&path).await?;
            if log["data"][0]["orderReference"] != reference || log["data"][0]["status"] != "succeeded" {
                return Ok(None);
            }
            let id = waybill_tests::text(&log["data"][0], "id")?;
            let details = business.portal.get(&format!("/webhook-deliveries/{id}")).await?;
            Ok(Some(details["attemptLog"][0]["requestHeaders"].clone()))
        })
        .await?;
        let traceparent = sent["traceparent"].as_str().unwrap_or_default();
        assert!(traceparent.contains(trace), "{sent}");
    }
    Ok(())
}

async fn the_portal_shows_the_whole_job(business: &Business, delivered: &str) -> anyhow::Result<()> {
    let status = business.portal.get("/status").await?;
    assert_eq!(status["indicators"]["connectionTest"]["label"], "Connected");
    assert_eq!(status["indicators"]["webhook"]["label"], "Active");
    let live = business.portal.get("/orders?mode=live&limit=100").await?;
    assert_eq!(live["data"].as_array().map(Vec::len), Some(8));
    let one = business.portal.get(&format!("/orders/{delivered}")).await?;
    assert_eq!(one["status"], "delivered");
    let path = format!("/webhook-endpoints/{}/deliveries?limit=100", business.endpoint_id);
    let log = business.portal.get(&path).await?;
    assert!(log["data"].as_array().is_some_and(|rows| rows.iter().all(|row| row["status"] == "succeeded")));
    Ok(())
}
